"""The formula's parts (design: Recall)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.domain.ranking import age_of, recency, rrf

DAY = timedelta(days=1)
NOW = datetime(2026, 6, 1, tzinfo=UTC)
ages = st.timedeltas(min_value=timedelta(days=-10_000), max_value=timedelta(days=100_000))
half_lives = st.timedeltas(min_value=timedelta(seconds=1), max_value=timedelta(days=36_525))
floors = st.floats(min_value=0, max_value=1)


@pytest.mark.parametrize(
    ("age", "half_life", "floor", "expected"),
    [
        (0 * DAY, 30 * DAY, 0.5, 1.0),
        (30 * DAY, 30 * DAY, 0.0, 0.5),
        (30 * DAY, 30 * DAY, 0.5, 0.75),
        (60 * DAY, 30 * DAY, 0.5, 0.625),
        (-5 * DAY, 30 * DAY, 0.5, 1.0),
        (90_000 * DAY, timedelta(seconds=1), 0.5, 0.5),
        (30 * DAY, None, 0.5, 1.0),
        (30 * DAY, 0 * DAY, 0.5, 1.0),
        (30 * DAY, -1 * DAY, 0.5, 1.0),
        (30 * DAY, 30 * DAY, 1.0, 1.0),
    ],
)
def test_recency(age: timedelta, half_life: timedelta | None, floor: float, expected: float) -> None:
    assert recency(age, half_life=half_life, floor=floor) == pytest.approx(expected)


@given(age=ages, half_life=half_lives, floor=floors)
def test_recency_lies_between_its_floor_and_one(age: timedelta, half_life: timedelta, floor: float) -> None:
    assert floor <= recency(age, half_life=half_life, floor=floor) <= 1


@given(one=ages, other=ages, half_life=half_lives, floor=floors)
def test_the_older_is_never_worth_more(one: timedelta, other: timedelta, half_life: timedelta, floor: float) -> None:
    younger, older = sorted((one, other))
    assert recency(younger, half_life=half_life, floor=floor) >= recency(older, half_life=half_life, floor=floor)


@pytest.mark.parametrize(
    ("ranks", "expected"), [((1, 1), 2 / 11), ((1, None), 1 / 11), ((None, 3), 1 / 13), ((None, None), 0)]
)
def test_reciprocal_ranks_add_up(ranks: tuple[int | None, int | None], expected: float) -> None:
    assert rrf(*ranks, k=10) == pytest.approx(expected)


AGES = [
    # days ago: observed, created, last reinforced; the age in days
    (None, 3, None, 3),
    (10, 3, None, 10),
    (None, 10, 2, 2),
    (10, 3, 2, 2),
    (1, 10, 5, 1),
    (-1, 3, None, -1),
]


@pytest.mark.parametrize(("observed", "created", "reinforced", "age"), AGES)
def test_age_counts_from_the_observation_or_the_last_reinforcement(
    observed: int | None, created: int, reinforced: int | None, age: int
) -> None:
    def ago(days: int | None) -> datetime | None:
        return None if days is None else NOW - days * DAY

    found = age_of(observed_at=ago(observed), created_at=NOW - created * DAY, reinforced_at=ago(reinforced), now=NOW)
    assert found == age * DAY
