"""Purge: deletes for good what has expired on any tier and what lay in the trash long enough (reference: Forget).

A batch is a transaction: what it deletes, the numbers and the audit stand or fall together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from memories.domain.retention import Cause
from memories.store import due, removal, retention
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.db import advisory_lock

BATCH = 1_000

_EVENT = {Cause.EXPIRED: record.memory_expired, Cause.PURGED: record.memory_purged}


@dataclass(frozen=True, slots=True)
class Purged:
    """How many memories went, and whether that was all there was to delete."""

    expired: int
    purged: int
    complete: bool


def purge(
    *,
    now: datetime,
    trash_retention: timedelta,
    actor: Actor,
    go_on: Callable[[], bool] = lambda: True,
    within: Callable[[], None] = lambda: None,
    run: UUID | None = None,
) -> Purged:
    """Deletes, a batch at a time, what is due at `now`, for as long as `go_on` says so. Safe beside itself.

    `within` is called in each batch's transaction; what it raises rolls the batch back and ends the purge.
    """
    deleted, complete = dict.fromkeys(_EVENT, 0), True
    for cause, by in ((Cause.EXPIRED, now), (Cause.PURGED, now - trash_retention)):
        after: due.Place | None = due.Place()
        while after is not None and (complete := go_on()):
            with transaction.atomic():
                within()
                removed, after = _batch(cause, by=by, after=after, run=run, now=now, actor=actor)
            deleted[cause] += removed.total()
    return Purged(expired=deleted[Cause.EXPIRED], purged=deleted[Cause.PURGED], complete=complete)


def _batch(
    cause: Cause, *, by: datetime, after: due.Place, run: UUID | None, now: datetime, actor: Actor
) -> tuple[removal.Removed, due.Place | None]:
    """Deletes one batch. The second part is where the next begins, None when there is none."""
    advisory_lock("purge")  # one at a time: another would pass over the owners this one holds
    memories, reached = due.take(cause, by=by, after=after, limit=BATCH)
    removed = removal.delete(removal.with_superseded(memories))
    retention.add(removed, cause=cause, run=run, now=now)
    for workspace, tiers in _by_workspace(removed).items():
        _EVENT[cause](workspace=workspace, actor=actor, deleted=tiers)
    return removed, reached


def _by_workspace(removed: removal.Removed) -> dict[UUID, dict[str, int]]:
    counts = defaultdict[UUID, dict[str, int]](dict)
    for (workspace, tier), rows in removed.items():
        counts[workspace][tier.value] = rows
    return counts
