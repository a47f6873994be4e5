"""The runs of maintenance: claimed, held, and given back. The database decides, and its clock counts."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID, uuid4

from memories.domain.maintenance import LastRun, Step, next_step
from memories.models import MaintenanceRun
from omnia.core.ids import uuid7
from omnia.db import advisory_lock, execute, fetch_dicts

LEASE = timedelta(minutes=2)
"""A worker that was killed is given up after this; a batch takes a small part of it."""
RETRY = timedelta(minutes=1)
KEPT = timedelta(days=30)

_START = """
INSERT INTO memories_maintenance_run (id, due_at, status, holder, held_until, started_at)
VALUES (%(id)s, %(due)s, 'running', %(holder)s, %(held_until)s, %(now)s)
"""
_RESUME = """
UPDATE memories_maintenance_run SET status = 'running', holder = %(holder)s, held_until = %(held_until)s,
    finished_at = NULL, due_at = greatest(due_at, %(due)s)
WHERE id = %(id)s
"""
_HOLD = "UPDATE memories_maintenance_run SET held_until = %(held_until)s WHERE id = %(id)s AND holder = %(holder)s"
_LEAVE = """
UPDATE memories_maintenance_run SET status = %(status)s, held_until = %(held_until)s, finished_at = %(finished_at)s
WHERE id = %(id)s AND holder = %(holder)s
"""


class RunLost(Exception):
    """Another worker took the run over; what this one was about to write is to be rolled back."""


class Claim:
    """The right to work on a run, for as long as nobody else took it over."""

    def __init__(self, run: UUID, holder: UUID) -> None:
        self.run = run
        self._mine = {"id": run, "holder": holder}

    def hold(self, *, now: datetime) -> None:
        """Pushes the end of the lease ahead, in the transaction of the work done. Raises RunLost."""
        if not execute(_HOLD, self._mine | {"held_until": now + LEASE}):
            raise RunLost

    def finish(self, *, now: datetime) -> None:
        self._leave(MaintenanceRun.Status.OK, held_until=now, finished_at=now)

    def pause(self, *, now: datetime) -> None:
        """Gives the run back unfinished: whoever looks next goes on with it."""
        self._leave(MaintenanceRun.Status.RUNNING, held_until=now, finished_at=None)

    def fail(self, *, now: datetime) -> None:
        """Gives the run back, to be tried again a little later."""
        self._leave(MaintenanceRun.Status.FAILED, held_until=now + RETRY, finished_at=now)

    def _leave(self, status: MaintenanceRun.Status, *, held_until: datetime, finished_at: datetime | None) -> None:
        execute(_LEAVE, self._mine | {"status": status.value, "held_until": held_until, "finished_at": finished_at})


def claim(*, due: datetime, now: datetime) -> Claim | None:
    """The run that is to be worked on now, when there is one and nobody else works on it. Within a transaction."""
    advisory_lock("maintenance")
    last = _last()
    step = next_step(last, due=due, now=now)
    if step is Step.WAIT:
        return None
    run, holder = uuid7() if last is None or step is Step.START else last.id, uuid4()
    parameters = {"id": run, "holder": holder, "held_until": now + LEASE, "due": due, "now": now}
    execute(_START if step is Step.START else _RESUME, parameters)
    execute("DELETE FROM memories_maintenance_run WHERE due_at < %(old)s", {"old": due - KEPT})
    return Claim(run, holder)


def _last() -> LastRun | None:
    rows = fetch_dicts(
        "SELECT id, due_at, status = 'ok' AS done, held_until FROM memories_maintenance_run ORDER BY due_at DESC LIMIT 1",
        {},
    )
    return LastRun(**rows[0]) if rows else None
