"""Durations as policies write them: `180d`, `720h`, `1d12h30m` (spec: tiers.<tier>.ttl)."""

from __future__ import annotations

import re
from datetime import timedelta

PATTERN = re.compile(r"(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?", re.ASCII)
LONGEST = timedelta(days=36_525)
"""A hundred years: no memory outlives it, and every sum with a date stays inside the calendar."""

_MOST_DIGITS = 12
"""More significant digits than this are beyond `LONGEST` in any unit, and are not worth reading."""


def parse_duration(text: str) -> timedelta | None:
    """The span `text` names; None for the empty string, which means "not set".

    Raises ValueError when the text is not a duration or is longer than `LONGEST`.
    """
    match = PATTERN.fullmatch(text)
    if match is None:
        raise ValueError("not a duration such as 180d, 720h or 1d12h")
    if not text:
        return None
    days, hours, minutes, seconds = (_amount(part) for part in match.groups(default=""))
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if total > LONGEST.total_seconds():
        raise ValueError("longer than a hundred years")
    return timedelta(seconds=total)


def _amount(digits: str) -> int:
    significant = digits.lstrip("0")
    if len(significant) > _MOST_DIGITS:
        raise ValueError("longer than a hundred years")
    return int(significant or "0")


def format_duration(span: timedelta) -> str:
    """The shortest text that `parse_duration` reads back as `span` (whole seconds)."""
    seconds = int(span.total_seconds())
    parts = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        amount, seconds = divmod(seconds, size)
        if amount:
            parts.append(f"{amount}{unit}")
    return "".join(parts) or "0s"
