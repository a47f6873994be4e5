"""Durations: the grammar, its limits, and that what is written reads back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnia.core.duration import LONGEST, PATTERN, format_duration, parse_duration

DAY, HOUR, MINUTE = 86_400, 3_600, 60


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5m", 5 * MINUTE),
        ("2h", 2 * HOUR),
        ("30d", 30 * DAY),
        ("1d12h", DAY + 12 * HOUR),
        ("1d2h3m4s", DAY + 2 * HOUR + 3 * MINUTE + 4),
        ("1d12h30m", DAY + 12 * HOUR + 30 * MINUTE),
        ("90s", 90),
        ("0s", 0),
        ("0d0h0m0s", 0),
        ("0" * 400 + "30d", 30 * DAY),
        ("36525d", LONGEST.total_seconds()),
    ],
)
def test_a_duration(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


def test_empty_means_not_set() -> None:
    assert parse_duration("") is None


@pytest.mark.parametrize(
    "text", ["nope", "d", "abcd", "2h1d", "-1d", "1.5h", "30D", "30d\n", "３０d", "٣d", " 30d", "1d ", "1dd", "10"]
)
def test_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["36525d1s", "36526d", "9" * 400 + "d", "9" * 10_000 + "s", "3155760001s"])
def test_more_than_a_hundred_years(text: str) -> None:
    with pytest.raises(ValueError, match="hundred years"):
        parse_duration(text)


@given(st.integers(min_value=0, max_value=int(LONGEST.total_seconds())))
def test_what_is_written_reads_back_in_its_shortest_form(seconds: int) -> None:
    span = timedelta(seconds=seconds)
    text = format_duration(span)
    assert parse_duration(text) == span
    assert format_duration(parse_duration(text) or timedelta()) == text


@given(st.from_regex(PATTERN, fullmatch=True) | st.text())
def test_any_text_is_a_duration_or_a_value_error(text: str) -> None:
    try:
        span = parse_duration(text)
    except ValueError:
        return
    assert span is None or timedelta(0) <= span <= LONGEST
