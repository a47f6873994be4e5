"""Security case 251 and field fault 130: RFC 3339 with an offset, nothing looser."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from omnia.api.moments import parse_moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-31T09:30:00Z", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        ("2026-01-31t09:30:00z", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        ("2026-01-31T09:30:00.25+05:30", datetime(2026, 1, 31, 4, 0, 0, 250_000, tzinfo=UTC)),
        ("2024-02-29T00:00:00-00:00", datetime(2024, 2, 29, tzinfo=UTC)),
        ("2026-01-31T09:30:00.123456789Z", datetime(2026, 1, 31, 9, 30, 0, 123_456, tzinfo=UTC)),
    ],
)
def test_read(text, moment):
    assert parse_moment(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-31",
        "2026-01-31T09:30:00",
        "2026-01-31 09:30:00Z",
        "2026-01-31T09:30Z",
        "2026-02-30T00:00:00Z",
        "2025-02-29T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "2026-01-31T09:30:00+24:00",
        "2026-W05-6T09:30:00Z",
        "20260131T093000Z",
        "２０２６-01-31T09:30:00Z",
        "2026-01-31T09:30:00Z\n",
        "1764547200",
    ],
)
def test_refused(text):
    with pytest.raises(ValueError, match="offset"):
        parse_moment(text)
