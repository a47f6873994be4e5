"""Schedules of five fields: when they were due last, and when they are due next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnia.core.cron import Cron

NOW = datetime(2026, 3, 4, 10, 20, 30, tzinfo=UTC)
"""A Wednesday."""


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


SCHEDULES = [
    # schedule, last due at or before NOW, next due after it
    ("* * * * *", "2026-03-04 10:20", "2026-03-04 10:21"),
    ("0 * * * *", "2026-03-04 10:00", "2026-03-04 11:00"),
    ("*/15 * * * *", "2026-03-04 10:15", "2026-03-04 10:30"),
    ("5-50/15 * * * *", "2026-03-04 10:20", "2026-03-04 10:35"),
    ("10/20 * * * *", "2026-03-04 10:10", "2026-03-04 10:30"),
    ("0 2 * * *", "2026-03-04 02:00", "2026-03-05 02:00"),
    ("30 22 * * *", "2026-03-03 22:30", "2026-03-04 22:30"),
    ("0 0 1,15 * *", "2026-03-01 00:00", "2026-03-15 00:00"),
    ("0 0 * * mon-fri", "2026-03-04 00:00", "2026-03-05 00:00"),
    ("0 0 * * SUN", "2026-03-01 00:00", "2026-03-08 00:00"),
    ("0 0 * * 7", "2026-03-01 00:00", "2026-03-08 00:00"),
    ("0 0 * * 5-7", "2026-03-01 00:00", "2026-03-06 00:00"),
    ("0 0 13 * fri", "2026-02-27 00:00", "2026-03-06 00:00"),
    ("0 0 */10 * wed", "2026-02-11 00:00", "2026-03-11 00:00"),
    ("0 0 31 * *", "2026-01-31 00:00", "2026-03-31 00:00"),
    ("0 0 29 feb *", "2024-02-29 00:00", "2028-02-29 00:00"),
    ("  0   *  * * * ", "2026-03-04 10:00", "2026-03-04 11:00"),
]


@pytest.mark.parametrize(("text", "last", "following"), SCHEDULES)
def test_when_it_was_and_will_be_due(text: str, last: str, following: str) -> None:
    cron = Cron.parse(text)
    assert cron.latest(NOW) == at(last)
    assert cron.following(NOW) == at(following)


def test_a_minute_is_due_from_its_first_instant() -> None:
    hourly = Cron.parse("0 * * * *")
    on_time = at("2026-03-04 10:00")
    assert hourly.latest(on_time) == on_time
    assert hourly.following(on_time) == at("2026-03-04 11:00")
    assert hourly.latest(on_time - timedelta(microseconds=1)) == at("2026-03-04 09:00")


def test_it_is_read_in_utc_whatever_the_zone_asked_in() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert Cron.parse("0 2 * * *").latest(there) == at("2026-03-04 02:00")


def test_eight_years_may_lie_between_two_times() -> None:
    leap = Cron.parse("0 0 29 2 *")
    assert leap.following(at("2096-03-01")) == at("2104-02-29")
    assert leap.latest(at("2104-02-28")) == at("2096-02-29")


BAD = ["", "* * * *", "* * * * * *", "every hour", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *",
       "* * * * 8", "*/0 * * * *", "5-2 * * * *", "-1 * * * *", "1- * * * *", ",1 * * * *", "1,, * * * *", "* * * foo *",
       "mon * * * *", "1.5 * * * *", "٣ * * * *", "0 0 31 2 *", "0 0 30 feb *", "* " * 500, "*/9999 * * * *", "*5 * * * *"]  # fmt: skip


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Cron.parse(text)


fields = st.tuples(st.integers(0, 59), st.integers(0, 23), st.integers(1, 28), st.integers(1, 12), st.integers(0, 6))


@given(fields, st.lists(st.booleans(), min_size=5, max_size=5), st.integers(946_684_800, 3_786_912_000))
def test_last_and_next_enclose_any_moment(values: tuple[int, ...], stars: list[bool], moment: int) -> None:
    cron = Cron.parse(" ".join("*" if star else str(value) for star, value in zip(stars, values, strict=True)))
    now = datetime.fromtimestamp(moment, UTC)
    last, following = cron.latest(now), cron.following(now)
    assert last <= now < following
    assert cron.following(last) == following
    assert cron.latest(following) == following
