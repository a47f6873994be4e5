"""Two edits of one document: what only one touched is joined, what both touched is told."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from policies.domain.merge import Clash, merge

LEAVES = st.one_of(st.integers(0, 3), st.booleans(), st.lists(st.integers(0, 2), max_size=2))
DOCUMENTS = st.recursive(
    st.dictionaries(st.sampled_from("abc"), LEAVES, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), st.one_of(LEAVES, inner), max_size=3),
    max_leaves=8,
)


def test_changes_in_different_places_are_joined() -> None:
    base = {"gate": {"min": 2, "window": 30}, "write": {"max": 1}}
    theirs = {"gate": {"min": 4, "window": 30}, "write": {"max": 1}, "recall": {"most": 5}}
    mine = {"gate": {"min": 2, "window": 14}}
    merged = merge(base, theirs=theirs, mine=mine)
    assert merged.value == {"gate": {"min": 4, "window": 14}, "recall": {"most": 5}}
    assert merged.clashes == []


def test_the_same_change_twice_is_no_clash() -> None:
    assert merge({}, theirs={"gate": {"min": 3}}, mine={"gate": {"min": 3}}).clashes == []


def test_a_place_both_changed_is_told_and_has_mine() -> None:
    merged = merge({"a": {"b": 1}}, theirs={"a": {"b": 2}}, mine={"a": {"b": 3}})
    assert merged.clashes == [Clash("/a/b", 1, 2, 3)]
    assert merged.value == {"a": {"b": 3}}


def test_removing_what_the_other_changed_is_told() -> None:
    merged = merge({"gate": {"min": 2}}, theirs={"gate": {"min": 4}}, mine={})
    assert merged.clashes == [Clash("/gate", {"min": 2}, {"min": 4}, None)]
    assert merged.value == {}


def test_a_list_is_one_leaf() -> None:
    assert merge({"a": [1]}, theirs={"a": [1, 2]}, mine={"a": [0, 1]}).clashes == [Clash("/a", [1], [1, 2], [0, 1])]


@given(base=DOCUMENTS, theirs=DOCUMENTS, mine=DOCUMENTS)
def test_an_edit_of_one_alone_is_that_edit(base: Any, theirs: Any, mine: Any) -> None:
    before = deepcopy((base, theirs, mine))
    assert merge(base, theirs=theirs, mine=base).value == theirs
    assert merge(base, theirs=base, mine=mine).value == mine
    assert (base, theirs, mine) == before


@given(base=DOCUMENTS, theirs=DOCUMENTS, mine=DOCUMENTS)
def test_nothing_is_lost_without_being_told(base: Any, theirs: Any, mine: Any) -> None:
    """Whoever comes first: the same places clash, and without a clash the same document comes of it."""
    one, other = merge(base, theirs=theirs, mine=mine), merge(base, theirs=mine, mine=theirs)
    assert {each.pointer for each in one.clashes} == {each.pointer for each in other.clashes}
    if not one.clashes:
        assert one.value == other.value
