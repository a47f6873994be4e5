"""When maintenance runs: once for each time the schedule names, one catch-up after an outage (spec: tiers)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from uuid import UUID


class Step(Enum):
    """What whoever looks now has to do."""

    START = auto()
    RESUME = auto()
    WAIT = auto()


@dataclass(frozen=True, slots=True)
class LastRun:
    """The run of the latest time: `done` when it went well, else somebody holds it until `held_until`."""

    id: UUID
    due_at: datetime
    done: bool
    held_until: datetime


def next_step(last: LastRun | None, *, due: datetime, now: datetime) -> Step:
    """`due` is the last time the schedule named by `now`; the times missed before it are not made up for.

    A run that nobody holds any more, because it failed, died or ran out of time, is taken up again before another
    starts, and stands for the later time from then on.
    """
    if last is None or (last.done and due > last.due_at):
        return Step.START
    return Step.RESUME if not last.done and last.held_until <= now else Step.WAIT
