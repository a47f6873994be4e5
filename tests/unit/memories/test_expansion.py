"""What comes of a policy's graph expansion and a recall's wish, and what a lookup may name."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.domain.about import About, folded, folded_prefix
from memories.domain.expansion import MOST_HOPS, ExpansionWish
from memories.domain.lookup import Lookup
from memories.domain.relation import Relation
from memories.store import edges
from omnia.core.errors import BadInput, Forbidden
from omnia.core.scope import Scope
from policies.domain.document import GraphExpansion

WORKSPACE = UUID(int=1)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "enabled": st.booleans(),
    "hops": st.integers(1, 2**63),
    "relation_types": st.lists(st.text(min_size=1), min_size=1).map(tuple),
    "max_added": st.integers(1, 100),
    "weight": st.floats(0, 1),
}
RULES = st.builds(GraphExpansion, **(FIELDS | {"hops": st.integers(1, MOST_HOPS)}))


@given(RULES, st.fixed_dictionaries({}, optional=FIELDS))
def test_a_wish_replaces_what_it_states_and_nothing_else(rules: GraphExpansion, stated: dict[str, Any]) -> None:
    walk = ExpansionWish(**stated).settled(rules)
    if not stated.get("enabled", rules.enabled):
        assert walk is None
        return
    assert walk is not None
    for name in FIELDS:
        wanted = stated.get(name, getattr(rules, name))
        assert getattr(walk, name) == (min(wanted, MOST_HOPS) if name == "hops" else wanted)


@given(RULES)
def test_no_wish_leaves_the_policy_as_it_is(rules: GraphExpansion) -> None:
    assert ExpansionWish().settled(rules) == (rules if rules.enabled else None)


NAMED: list[tuple[Lookup, bool]] = [
    (Lookup(), True),
    (Lookup(limit=5), True),
    (Lookup(kinds=("city",)), False),
    (Lookup(name_prefix="l"), False),
    (Lookup(purpose="travel"), False),
    (Lookup(user="u1"), False),
    (Lookup(agent="a1"), False),
]


@pytest.mark.parametrize(("lookup", "nothing"), NAMED)
def test_a_lookup_names_something(lookup: Lookup, nothing: bool) -> None:
    assert lookup.names_nothing is nothing


IDENTITIES = st.sampled_from([None, "u1", "u2"])


@given(IDENTITIES, IDENTITIES, IDENTITIES, IDENTITIES)
def test_a_lookup_lies_within_its_recall_or_is_refused(
    user: str | None, agent: str | None, asked_user: str | None, asked_agent: str | None
) -> None:
    scope, lookup = Scope(WORKSPACE, user, agent), Lookup(user=asked_user, agent=asked_agent, purpose="p")
    if asked_user in (None, user) and asked_agent in (None, agent):
        lookup.require_within(scope)
    else:
        with pytest.raises(Forbidden):
            lookup.require_within(scope)


@given(st.text(max_size=40).filter(str.strip))
def test_a_key_begins_with_each_of_its_words_folded(text: str) -> None:
    assert folded(text).startswith(folded_prefix(text).rstrip())
    assert folded(folded(text)) == folded(text)


def test_a_prefix_is_folded_as_a_key_is() -> None:
    assert About.of("City", " São Paulo ").key.startswith(folded_prefix(" SÃO P"))
    assert not About.of("city", "Lyon").key.startswith(folded_prefix("Lyon "))


SCOPES: list[tuple[str | None, str | None, set[tuple[str, str]]]] = [
    (None, None, {("", "")}),
    ("u1", None, {("", ""), ("u1", "")}),
    (None, "a1", {("", ""), ("", "a1")}),
    ("u1", "a1", {("", ""), ("u1", ""), ("", "a1"), ("u1", "a1")}),
]


@pytest.mark.parametrize(("user", "agent", "pairs"), SCOPES)
def test_the_edges_of_a_scope_carry_its_user_and_agent_or_neither(
    user: str | None, agent: str | None, pairs: set[tuple[str, str]]
) -> None:
    values = edges.scan_parameters(Scope(WORKSPACE, user, agent))
    found = list(zip(values["users"], values["agents"], strict=True))
    assert (set(found), len(found)) == (pairs, len(pairs))


def test_a_relation_needs_two_ends() -> None:
    Relation(UUID(int=1), UUID(int=2), "causes")
    with pytest.raises(BadInput) as refused:
        Relation(UUID(int=1), UUID(int=1), "causes")
    assert refused.value.code == "relation_to_itself"
