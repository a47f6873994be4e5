"""What a merge keeps and what it replaces, and how sure it makes the store (spec: dedup)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.domain.confidence import combined
from memories.domain.save import SaveCommand
from memories.domain.similarity import reaches, similarity
from memories.domain.wording import first, later, merged, restated
from omnia.core.scope import Scope
from tests.support import pair

NOW = datetime(2026, 6, 1, tzinfo=UTC)
COMMAND = SaveCommand(scope=Scope(UUID(int=1), "u1"), type="fact", content="Lives in Lyon")
FULL = replace(
    COMMAND, title="Home", summary="Where", purpose="p", session_id="s", turn_range=(1, 2), observed_at=NOW,
    category="memory:location", metadata={"a": "1", "b": "1"}, confidence=0.5,
)  # fmt: skip
unit = st.floats(min_value=0, max_value=1)


@given(old=unit)
def test_certainty_grows_towards_the_cap_and_is_never_lowered(old: float) -> None:
    new = combined(old, stated=None)
    assert old <= new <= max(old, 0.99)
    assert new == pytest.approx(max(old, min(0.99, 1 - (1 - old) * 0.3)), abs=1e-6)


@given(old=unit, stated=unit)
def test_a_stated_certainty_replaces(old: float, stated: float) -> None:
    assert combined(old, stated=stated) == stated


def test_a_merge_keeps_what_the_newer_saying_leaves_out() -> None:
    old = first(FULL, expires_at=NOW)
    new = merged(old, replace(COMMAND, content="Lives in Rome", metadata={"b": "2"}), expires_at=NOW + timedelta(1))
    assert new == replace(
        old, content="Lives in Rome", metadata={"a": "1", "b": "2"}, confidence=0.85, expires_at=NOW + timedelta(1)
    )


def test_a_merge_takes_what_the_newer_saying_states() -> None:
    stated = replace(
        FULL, title="House", summary="There", purpose="q", session_id="t", turn_range=(3, 4), confidence=0.1
    )
    new = merged(first(replace(FULL, metadata={}), expires_at=None), stated, expires_at=None)
    assert new == first(stated, expires_at=None)


@pytest.mark.parametrize(
    ("category", "kept"),
    [("memory:location", {"a": "1"}), ("memory:health", {"a": "1"}), ("memory:context", {}), (None, {})],
)
def test_a_restated_key_starts_over_but_for_metadata_no_more_sensitive(
    category: str | None, kept: dict[str, str]
) -> None:
    """What was said in a more sensitive category must go with it."""
    again = replace(COMMAND, category=category, metadata={"b": "2"})
    new = restated(first(FULL, expires_at=NOW), again, expires_at=None)
    assert new == replace(first(again, expires_at=None), metadata={**kept, "b": "2"})


@pytest.mark.parametrize(
    ("one", "other", "expected"), [(1, 2, 2), (2, 1, 2), (None, 1, None), (1, None, None), (None, None, None)]
)
def test_never_is_later_than_any_expiry(one: int | None, other: int | None, expected: int | None) -> None:
    days = [None if each is None else NOW + timedelta(each) for each in (one, other, expected)]
    assert later(days[0], days[1]) == days[2]


@pytest.mark.parametrize(
    ("distance", "threshold", "expected"),
    [(0.05, 0.95, True), (0.05004, 0.95, True), (0.0502, 0.95, False), (0.0, 1.0, True), (-1e-9, 1.0, True),
     (float("nan"), 0.95, False), (1.0, 0.0, True)],
)  # fmt: skip
def test_a_threshold_is_reached_within_the_grain_of_the_store(
    distance: float, threshold: float, expected: bool
) -> None:
    assert reaches(distance, threshold=threshold) is expected


def test_random_pairs_at_the_threshold_are_decided_alike() -> None:
    decided = {
        reaches(1 - float(one @ other), threshold=0.95) for one, other in (pair(0.95, seed=n) for n in range(2000))
    }
    assert decided == {True}


@pytest.mark.parametrize(("distance", "shown"), [(0.1, 0.9), (-1e-7, 1.0), (0.123456789, 0.876543), (2.0, -1.0)])
def test_a_similarity_is_shown_as_a_cosine(distance: float, shown: float) -> None:
    assert similarity(distance) == shown
