"""Moments as a person reads them: how far away, and the date."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_YEAR, _DAY = 365 * 86_400, 86_400
_STEPS = ((_YEAR, "year", 2 * _YEAR), (_DAY, "day", _DAY), (3_600, "hour", 3_600), (60, "minute", 60))
"""Seconds in a unit, its name, and the gap from which it is used: days read well up to two years."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment seen from another: `distance` such as "3 hours ago" or "in 179 days", and the UTC time."""

    at: datetime
    distance: str

    @property
    def date(self) -> str:
        return f"{self.at:%Y-%m-%d}"

    @property
    def full(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} UTC"


def seen_from(now: datetime, moment: datetime) -> Moment:
    """How `moment` reads at `now`; both aware."""
    at = moment.astimezone(UTC)
    gap = abs(at - now)
    amount = _in_words(gap)
    if amount is None:
        return Moment(at, "just now" if at <= now else "in less than a minute")
    return Moment(at, f"in {amount}" if at > now else f"{amount} ago")


def _in_words(gap: timedelta) -> str | None:
    """The gap in its largest unit; None below a minute."""
    whole = int(gap.total_seconds())
    for seconds, unit, least in _STEPS:
        if whole >= least:
            amount = whole // seconds
            return f"{amount} {unit}{'s' if amount > 1 else ''}"
    return None
