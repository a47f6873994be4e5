"""What retention deleted, in numbers: a stretch of days, and the counts on them (design: GET /memories/retention)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from omnia.core.errors import BadInput, FieldProblem
from omnia.core.scope import Tier

USUAL_DAYS, MOST_DAYS = 30, 400


class Cause(StrEnum):
    """Why retention deleted a memory for good."""

    EXPIRED = "expired"
    PURGED = "purged"
    CONSENT_REVOKED = "consent_revoked"


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days, in UTC: `first` is the first, `end` the one after the last."""

    first: date
    end: date

    @staticmethod
    def of(since: datetime | None, until: datetime | None, *, now: datetime) -> Period:
        """The days that hold any moment from `since` up to `until`; by default the last thirty.

        Raises BadInput `invalid_parameter` for a stretch that is empty or longer than can be told at once.
        """
        try:
            end = _day_after(until or now, includes=until is None)
            first = since.astimezone(UTC).date() if since else end - timedelta(days=USUAL_DAYS)
        except OverflowError:  # beyond the calendar's first or last day
            raise _refused() from None
        if not 0 < (end - first).days <= MOST_DAYS:
            raise _refused()
        return Period(first, end)

    def days(self) -> list[date]:
        return [self.first + timedelta(days=number) for number in range((self.end - self.first).days)]


@dataclass(frozen=True, slots=True)
class DayCount:
    """How many memories of a tier were deleted on a day, by cause."""

    day: date
    tier: Tier
    rows: Counter[Cause]

    def as_json(self) -> dict[str, Any]:
        return {"date": self.day.isoformat(), "tier": self.tier.value} | by_cause(self.rows)


@dataclass(frozen=True, slots=True)
class RunReport:
    """The last run of maintenance; `deleted` counts this workspace's memories. `finished_at` None while it runs."""

    started_at: datetime
    finished_at: datetime | None
    deleted: int
    status: str

    def as_json(self) -> dict[str, Any]:
        return {
            "started_at": self.started_at,
            "finished_at": self.finished_at,
            "deleted": self.deleted,
            "status": self.status,
        }


@dataclass(frozen=True, slots=True)
class RetentionReport:
    """A workspace's numbers over a period, when maintenance ran last, and when it is due next."""

    period: Period
    days: Sequence[DayCount]
    last_run: RunReport | None
    schedule: str
    next_run: datetime

    @property
    def totals(self) -> Counter[Cause]:
        return sum((each.rows for each in self.days), Counter[Cause]())

    def as_json(self) -> dict[str, Any]:
        return {
            "from": _midnight(self.period.first),
            "to": _midnight(self.period.end),
            "totals": by_cause(self.totals),
            "days": [each.as_json() for each in self.days],
            "last_run": self.last_run.as_json() if self.last_run else None,
            "schedule": self.schedule,
            "next_run": self.next_run,
        }


def by_cause(rows: Counter[Cause]) -> dict[str, int]:
    return {cause.value: rows[cause] for cause in Cause}


def _refused() -> BadInput:
    detail = f"from lies before to, by {MOST_DAYS} days at most"
    return BadInput(detail, code="invalid_parameter", errors=[FieldProblem("/from", "invalid_parameter", detail)])


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(tzinfo=UTC))


def _day_after(moment: datetime, *, includes: bool) -> date:
    """The first day without a moment before this one, or with `includes` up to it."""
    at = moment.astimezone(UTC)
    return at.date() if at.time() == time() and not includes else at.date() + timedelta(days=1)
