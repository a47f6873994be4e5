"""What an edit changed, before and after, leaf by leaf (reference: Audit)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.domain.changes import MOST, changes, told

CASES: list[tuple[Any, Any, list[tuple[str, Any, Any]]]] = [
    # before, after, what changed
    ({}, {}, []),
    ({"a": 1}, {"a": 1}, []),
    ({"a": 1}, {"a": 2}, [("/a", 1, 2)]),
    ({"a": {"b": 1}}, {}, [("/a/b", 1, None)]),
    ({}, {"a": {"b": {"c": False}}}, [("/a/b/c", None, False)]),
    ({"a": {"b": 1}}, {"a": 2}, [("/a", {"b": 1}, 2)]),
    ({"a": [1, 2]}, {"a": [1]}, [("/a", [1, 2], [1])]),
    ({"a/b~": 1}, {"a/b~": 2}, [("/a~1b~0", 1, 2)]),
    ({"b": 1, "a": 1}, {"b": 2, "a": 2}, [("/a", 1, 2), ("/b", 1, 2)]),
]


@pytest.mark.parametrize(("before", "after", "expected"), CASES)
def test_each_leaf_is_told(before: Any, after: Any, expected: list[tuple[str, Any, Any]]) -> None:
    assert [(each.pointer, each.before, each.after) for each in changes(before, after)] == expected


VALUES = st.recursive(
    st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner, min_size=1), max_leaves=9
)


@given(st.dictionaries(st.text(), VALUES), st.dictionaries(st.text(), VALUES))
def test_nothing_changed_is_nothing_told(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert bool(list(changes(before, after))) == (before != after)
    assert list(changes(before, before)) == []


def test_much_is_told_in_part() -> None:
    assert len(told({}, {str(number): 1 for number in range(2 * MOST)})) == MOST
    assert told({"a": ["x"] * 999}, {})[0]["before"] == "999 entries"
