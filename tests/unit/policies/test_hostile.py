"""Admission, reading and status never fail on anything that can be JSON, and never grow with it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnia.config import OmniaConfig
from omnia.core.scope import Tier
from policies.domain.admission import admit_policy, admit_workspace
from policies.domain.conditions import status_of
from policies.domain.document import PolicySpec, read_spec
from policies.domain.effective import effective_policy
from policies.domain.schema.crd import MOST_PROBLEMS, Crd
from policies.domain.schema.prune import prune
from tests.contract.policy_documents import NOW, policy

SCHEMA = Crd.load("memorypolicies").schema["properties"]["spec"]

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["0.4", "0.95", "30d", "9" * 400 + "d", "10.5", "freeze", "user", "*", "2026-06-01T12:00:00Z"])
)
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


def shaped(schema: Any) -> st.SearchStrategy[Any]:
    """Values that mostly follow a schema and sometimes are anything at all."""
    match schema:
        case {"type": "object", "properties": properties}:
            fields = {name: shaped(inner) for name, inner in properties.items()}
            right: st.SearchStrategy[Any] = st.fixed_dictionaries({}, optional=fields)
        case {"type": "object", "additionalProperties": inner}:
            right = st.dictionaries(st.sampled_from(["memory:health", "x"]), shaped(inner), max_size=2)
        case {"type": "array", "items": inner}:
            right = st.lists(shaped(inner), max_size=3)
        case {"enum": words}:
            right = st.sampled_from(words)
        case _:
            right = LEAVES
    return right | JSON


SPECS = shaped(SCHEMA)


@given(JSON)
def test_any_value_is_judged(document: Any) -> None:
    assert admit_policy(document, stored=None, now=NOW).problems
    assert admit_workspace(document, stored=None).problems


@given(spec=SPECS, stored=SPECS)
def test_any_spec_is_judged_as_a_new_one_and_as_an_update(spec: Any, stored: Any) -> None:
    old = stored if isinstance(stored, dict) else None
    checked = admit_policy(policy() | {"spec": spec}, stored=old, now=NOW)
    assert len(checked.problems) <= MOST_PROBLEMS + 1
    assert all(each.pointer == "" or each.pointer.startswith("/") for each in checked.problems)
    if not checked.problems:
        again = admit_policy(checked.document, stored=None if old is None else checked.spec, now=NOW)
        assert (again.document, again.problems) == (checked.document, ())


@given(SPECS)
def test_any_spec_can_be_read_resolved_and_given_a_status(spec: Any) -> None:
    typed = read_spec(spec)
    assert isinstance(typed, PolicySpec)
    found = effective_policy(typed, config=OmniaConfig())
    assert found.dedup.auto_supersede_above > 0.5
    assert found.expiry.resolve(tier=Tier.USER, category="x", explicit=NOW, now=NOW) in (NOW, None)
    if isinstance(spec, dict):
        assert status_of(spec, generation=1, now=NOW).phase in ("Active", "Error")


@given(SPECS)
def test_writing_the_defaults_twice_is_writing_them_once(spec: Any) -> None:
    once = prune(spec, SCHEMA, unknown=[])
    assert repr(prune(once, SCHEMA, unknown=[])) == repr(once)  # repr, because NaN equals nothing


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "spec",
    [
        deep(100_000),
        {"tiers": deep(100_000)},
        {"tiers": {"user": {"ttl": {"default": deep(100_000)}}}},
        {"schema": {"types": [{"name": deep(100_000)}, {"name": deep(100_000)}]}},
        {"unknown": deep(100_000)},
    ],
)
def test_depth_does_not_matter(spec: Any) -> None:
    assert admit_policy(policy() | {"spec": spec}, stored=None, now=NOW).problems
    read_spec(spec)


@pytest.mark.parametrize(
    "spec",
    [
        {"tiers": {}, "schema": {"types": [{"name": ""}] * 10_000}},
        {"tiers": {}, "gate": {"allowedTerms": [""] * 10_000}},
        {"tiers": {}, **{f"field{number}": 1 for number in range(10_000)}},
    ],
)
def test_ten_thousand_faults_are_told_in_a_hundred(spec: dict[str, Any]) -> None:
    assert 0 < len(admit_policy(policy(spec), stored=None, now=NOW).problems) <= MOST_PROBLEMS


def test_faults_an_update_inherits_do_not_hide_the_one_it_makes() -> None:
    inherited = {"tiers": {}, "gate": {"allowedTerms": [""] * (MOST_PROBLEMS * 2)}}
    update = inherited | {"recall": {"graphExpansion": {"hops": 3}}}
    found = admit_policy(policy(update), stored=inherited, now=NOW).problems
    assert [each.pointer for each in found] == ["/spec/recall/graphExpansion/hops"]
