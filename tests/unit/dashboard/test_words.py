"""Moments and commands as a person reads them."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.dashboard.empty import first_save
from omnia.core.scope import Scope
from policies.dashboard.moments import seen_from

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
WORKSPACE = UUID("01890a5d-ac96-774b-bcce-b302099a8057")


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (timedelta(0), "just now"),
        (timedelta(seconds=-59), "just now"),
        (timedelta(seconds=59), "in less than a minute"),
        (timedelta(minutes=-1), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "in 59 minutes"),
        (timedelta(hours=-1), "1 hour ago"),
        (timedelta(hours=23), "in 23 hours"),
        (timedelta(days=1), "in 1 day"),
        (timedelta(days=179, hours=23), "in 179 days"),
        (timedelta(days=-729), "729 days ago"),
        (timedelta(days=730), "in 2 years"),
        (timedelta(days=-36_525), "100 years ago"),
    ],
)
def test_how_far_away_a_moment_is(gap: timedelta, expected: str) -> None:
    assert seen_from(NOW, NOW + gap).distance == expected


def test_a_moment_is_told_in_utc() -> None:
    moment = seen_from(NOW, datetime.fromisoformat("2027-05-28T01:00:00+03:00"))
    assert (moment.date, moment.full) == ("2027-05-27", "2027-05-27 22:00:00 UTC")


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_moment_has_words(moment: datetime) -> None:
    assert seen_from(NOW, moment).distance


@given(
    user=st.none() | st.text(min_size=1).filter(lambda text: "\x00" not in text),
    agent=st.none() | st.text(min_size=1),
)
def test_a_shell_reads_the_command_back(user: str | None, agent: str | None) -> None:
    words = shlex.split(first_save(Scope(WORKSPACE, user, agent), address="https://memory.example/"))
    assert words[:2] == ["curl", "https://memory.example/api/v1/memories"]
    sent = json.loads(words[words.index("-d") + 1])
    expected = {"workspace_id": str(WORKSPACE), "virtual_user_id": user or "user-1"}
    assert sent["scope"] == expected | ({"agent_id": agent} if user and agent else {})
