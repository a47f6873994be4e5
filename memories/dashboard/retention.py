"""The retention panel of the Memories page: the numbers of the service as figures, bars and a table (spec).

The bars share one linear scale from zero. Everything they show stands in the table too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from memories.dashboard.reading import TIERS
from memories.domain.retention import Cause, DayCount, RetentionReport, RunReport
from omnia.core.scope import Tier
from policies.dashboard.moments import Moment, seen_from

WIDTH, HEIGHT = 600, 100
"""Of the drawing, in its own units."""
_GAP = 0.25
CAUSES = {Cause.EXPIRED: "Expired", Cause.PURGED: "Purged from the trash", Cause.CONSENT_REVOKED: "Consent revoked"}
_STATUS = {"ok": "Last run", "running": "Running now, begun", "failed": "The last run failed and is tried again; begun"}


@dataclass(frozen=True, slots=True)
class Bar:
    """One tier's part of a day's column."""

    tier: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """One day: what it says when pointed at, and its parts from the bottom up."""

    label: str
    bars: list[Bar]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table; `counts` in the order of `CAUSES`."""

    day: date
    tier: str
    tier_label: str
    counts: list[str]


@dataclass(frozen=True, slots=True)
class LastRun:
    """How the last run went, when, and how many memories of the workspace it deleted."""

    words: str
    at: Moment
    deleted: str


@dataclass(frozen=True, slots=True)
class Panel:
    """What the panel shows."""

    last: LastRun | None
    upcoming: Moment
    schedule: str
    first: date
    latest: date
    days: int
    most: str
    totals: list[tuple[str, str]]
    tiers: list[tuple[str, str]]
    columns: list[Column]
    lines: list[Line]
    causes = tuple(CAUSES.values())
    width, height = WIDTH, HEIGHT


def panel(report: RetentionReport, *, now: datetime) -> Panel:
    """The report as it is shown at `now`."""
    days, present = report.period.days(), {each.tier for each in report.days}
    most, columns = _columns(report.days, days)
    return Panel(
        last=_last(report.last_run, now=now) if report.last_run else None,
        upcoming=seen_from(now, report.next_run),
        schedule=report.schedule,
        first=days[0],
        latest=days[-1],
        days=len(days),
        most=_shown(most),
        totals=[(label, _shown(report.totals[cause])) for cause, label in CAUSES.items()],
        tiers=[(tier.value, TIERS[tier.value]) for tier in Tier if tier in present],
        columns=columns,
        lines=[_line(each) for each in reversed(report.days)],
    )


def _last(run: RunReport, *, now: datetime) -> LastRun:
    ended = run.finished_at if run.status == "ok" else None
    return LastRun(_STATUS[run.status], seen_from(now, ended or run.started_at), _shown(run.deleted))


def _line(count: DayCount) -> Line:
    tier = count.tier.value
    return Line(count.day, tier, TIERS[tier], [_shown(count.rows[cause]) for cause in CAUSES])


def _columns(counts: Sequence[DayCount], days: Sequence[date]) -> tuple[int, list[Column]]:
    """The highest column, in memories, and the columns of the days that have one."""
    by_day = defaultdict[date, list[DayCount]](list)
    for each in counts:
        by_day[each.day].append(each)
    most = max((_total(of_day) for of_day in by_day.values()), default=0)
    slot = WIDTH / len(days)
    return most, [
        Column(
            f"{day.isoformat()}: {_shown(_total(by_day[day]))}",
            list(_stacked(by_day[day], x=(number + _GAP / 2) * slot, width=(1 - _GAP) * slot, most=most)),
        )
        for number, day in enumerate(days)
        if day in by_day
    ]


def _total(counts: Sequence[DayCount]) -> int:
    return sum(each.rows.total() for each in counts)


def _stacked(counts: Sequence[DayCount], *, x: float, width: float, most: int) -> Iterator[Bar]:
    base = 0
    for each in counts:
        rows = each.rows.total()
        top = HEIGHT * (1 - (base + rows) / most)
        yield Bar(each.tier.value, round(x, 2), round(top, 2), round(width, 2), round(HEIGHT * rows / most, 2))
        base += rows


def _shown(rows: int) -> str:
    return f"{rows:,}"
