"""Retention in numbers: what was deleted, when maintenance ran last, when it is due (spec: the Memories page)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memories.domain.retention import Period, RetentionReport
from memories.store import retention
from omnia.core.cron import Cron


def report(workspace: UUID, period: Period, *, schedule: Cron, now: datetime) -> RetentionReport:
    """The numbers of one workspace; they say nothing of any memory."""
    return RetentionReport(
        period=period,
        days=retention.days(workspace, period),
        last_run=retention.last_run(workspace),
        schedule=schedule.text,
        next_run=schedule.following(now),
    )
