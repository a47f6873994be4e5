"""Merge patch, by the examples of RFC 7396."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.domain.patch import difference, merge_patch

EXAMPLES: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("target", "patch", "result"), EXAMPLES)
def test_a_patch_is_laid_over_and_nothing_is_changed_in_place(target: Any, patch: Any, result: Any) -> None:
    before = deepcopy((target, patch))
    assert merge_patch(target, patch) == result
    assert (target, patch) == before


VALUES = st.recursive(
    st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


@given(before=DOCUMENTS, after=DOCUMENTS)
def test_the_difference_laid_over_the_one_is_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert merge_patch(before, difference(before, after)) == after


def test_a_difference_names_the_changed_leaves_alone() -> None:
    before = {"a": {"b": 1, "c": [1, 2]}, "d": {"e": {}}, "f": 1}
    after = {"a": {"b": 1, "c": [2]}, "d": {"e": {}}, "g": {}}
    assert difference(before, after) == {"a": {"c": [2]}, "f": None, "g": {}}
    assert difference(before, before) == {}
