"""Moments on the wire: RFC 3339 with an offset, and nothing looser (design: Times)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
EXPECTED = "a time with its offset is expected, such as 2026-01-31T09:30:00Z"


def parse_moment(text: str) -> datetime:
    """The moment in UTC. Raises ValueError for anything but RFC 3339 with an offset.

    A leap second, a day the month has not, and a moment the calendar ends before (year 1 in
    +14:00) are no moments either.
    """
    if not _RFC3339.fullmatch(text):
        raise ValueError(EXPECTED)
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(EXPECTED) from None
