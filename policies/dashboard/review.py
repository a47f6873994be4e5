"""What a draft changes, in sentences and line by line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from policies.dashboard.draft import Draft, arranged
from policies.dashboard.fields import Field, Path
from policies.dashboard.places import path_of
from policies.dashboard.readback import read_back, said
from policies.domain.changes import changes
from policies.domain.manifest import dump_document
from policies.domain.schema.crd import Crd
from policies.domain.schema.finding import Node, child

_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Sentence:
    """One changed leaf: its place as the document has it, and both values with their meaning."""

    pointer: str
    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the comparison; `kind` is `same`, `gone`, `new` or `gap`."""

    kind: str
    text: str


def sentences(
    before: Mapping[str, Any], after: Mapping[str, Any], *, fields: Mapping[str, Field], now: datetime
) -> list[Sentence]:
    """Every leaf in which two specs differ, in the schema's order. `fields` by pointer."""
    found = sorted(changes(before, after, pointer="/spec"), key=lambda each: _rank(path_of(each.pointer)))
    return [
        Sentence(
            each.pointer,
            dotted(each.pointer),
            _meant(fields.get(each.pointer), each.before, now),
            _meant(fields.get(each.pointer), each.after, now),
        )
        for each in found
    ]


def dotted(pointer: str) -> str:
    """A pointer as people write a field: `gate.minDistinctSubjects`."""
    steps = path_of(pointer)
    return ".".join(steps[1:] if steps[:1] == ("spec",) else steps)


def compared(draft: Draft) -> list[Line]:
    """The YAML before and after the draft, unchanged parts left out."""
    before, after = (dump_document(arranged(each)).splitlines() for each in (draft.base_document, draft.document))
    return list(_lines(difflib.unified_diff(before, after, lineterm="", n=_CONTEXT)))


def _lines(unified: Iterator[str]) -> Iterator[Line]:
    kinds = {"+": "new", "-": "gone", " ": "same"}
    for at, line in enumerate(unified):
        if line.startswith("@@"):
            if at > 2:
                yield Line("gap", "⋯")
        elif at > 1:
            yield Line(kinds[line[0]], line[1:])


def _meant(field: Field | None, value: Any, now: datetime) -> str:
    text = said(value)
    if field is None:
        return text
    if value is None:
        return f"{text} (default {field.default})" if field.default else text
    words = read_back(field, text, now=now)
    return f"{text} ({words})" if words else text


def _rank(path: Path) -> tuple[int, ...]:
    """Where a place stands in the schema."""
    node: Node = Crd.load("memorypolicies").schema
    ranks = []
    for step in path:
        known = list(node.get("properties", {}))
        ranks.append(known.index(step) if step in known else len(known))
        node = child(node, step) or {}
    return tuple(ranks)
