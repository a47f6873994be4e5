"""Policy documents, good and bad: what the contract tests judge, and every field of the schema put wrong in turn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.contract import test_policy_admission as admission
from tests.contract import test_policy_crd as crd
from tests.contract import test_policy_ranges as ranges
from tests.contract import test_policy_sections as sections
from tests.contract.policy_documents import nested, policy, workspace

_WRONG: tuple[Any, ...] = (
    None,
    True,
    7,
    2.5,
    "",
    "word",
    " x",
    "x\n",
    [],
    {},
    {"a": 1},
    [{}],
    ["a", "a"],
    -1,
    2**63,
    "y" * 5000,
)


def policies() -> list[dict[str, Any]]:
    """Each of the documents once, those alone that JSON can carry."""
    return _distinct([*_around(), *(policy(spec) for spec in _specs())])


def workspaces() -> list[dict[str, Any]]:
    tables: Any = admission.WORKSPACES
    return _distinct([workspace(spec) for spec, _ in tables])


def _around() -> Iterator[dict[str, Any]]:
    tables: Any = admission.DOCUMENTS
    yield from ({**policy(), **changes} for changes, _ in tables)


def _specs() -> Iterator[Mapping[str, Any]]:
    yield from crd.BREAKING.values()
    yield from (nested(path, {}) for path in ("tiers", "tiers.user", "tiers.user.ttl", "tiers.user.perCategory"))
    yield from _numbers()
    yield from _texts()
    yield from _thresholds()
    for path, node in crd.LEAVES.items():
        yield from (crd.around(path, each) for each in (crd.sample(node), *_WRONG))
        yield _beside(path)


def _numbers() -> Iterator[dict[str, Any]]:
    for field, low, high in ranges.RANGES:
        yield from (nested(field, each) for each in (low, float(low), high, low - 1, high + 1, 10**30, "2", 2.5))


def _texts() -> Iterator[dict[str, Any]]:
    decimals = [*ranges.TAKEN_TO_10, *ranges.NO_DECIMAL, *ranges.ABOVE_1, *ranges.ABOVE_10]
    for field in (*ranges.UNITS, *ranges.WEIGHTS):
        yield from (nested(field, each) for each in (*decimals, 0.9))
    spans = [
        "",
        "30d",
        "1d2h3m4s",
        "0" * 60 + "30d",
        "36525d",
        "2h1d",
        "-1d",
        "1.5h",
        "30D",
        "30d\n",
        "３０d",
        "1w",
        "30",
    ]
    for field in ranges.DURATIONS:
        yield from (nested(field, each) for each in spans)
    for field, low, high in ranges.LENGTHS:
        yield from (nested(field, letter * size) for letter in ("x", "\U0001f600") for size in (low, high, high + 1))
    for field, words in ranges.WORDS:
        yield from (nested(field, each) for each in (*words, words[0].upper() + "x", f" {words[0]}", f"{words[0]}\n"))
    yield from (nested("gate.canaries.clearedAt", text) for text, _ in admission.MOMENTS)


def _thresholds() -> Iterator[dict[str, Any]]:
    for auto, surface, _ in sections.THRESHOLDS:
        given = {"autoSupersedeAbove": auto, "surfaceDuplicatesAbove": surface}
        yield nested("dedup.embeddingSimilarity", {key: each for key, each in given.items() if each is not None})


def _beside(path: tuple[str, ...]) -> Any:
    """A field nobody knows, next to one that is known."""
    return crd.around(path[:-1], {"unheardOf": 1} if path[-1] != "[]" else [{"unheardOf": 1}])


def _distinct(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = {}
    for each in documents:
        try:
            found[json.dumps(each, sort_keys=True, allow_nan=False, ensure_ascii=False).encode()] = each
        except ValueError:
            continue
    return list(found.values())
