"""Re-embedding: the change to another model, with no memory lost and no gap in recall (design: embedding-model).

Every memory's row has room for the vectors of two models. New ones are made beside the old, which recall and merges
go on with; what is written meanwhile gets both. Once every memory has one, a single row says that the new model is in
use: nothing is moved, nobody waits, and a process that has not heard of it yet still finds the old vectors.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from memories.embeddings import current
from memories.services.embed import Workable, embed_rows, wanted, workable
from memories.store import coverage, embedding_models, unembedded
from memories.store.embedding_models import Turn
from omnia.audit.record import record
from omnia.core.actor import Actor
from omnia.db import lock_key
from omnia.logs import describe

logger = logging.getLogger(__name__)

BATCH = 64
BUDGET = timedelta(seconds=50)
SETTLES_AFTER = timedelta(seconds=30)
"""By then every process has heard of the change, and writes both vectors."""
TIDIES_FOR = timedelta(minutes=10)
"""After a switch; a save that began before the change was heard of may have been at its text that long."""
_ACTOR = Actor("system:reembed")
Clock = Callable[[], datetime]


def carry_on(*, clock: Clock = timezone.now, budget: timedelta = BUDGET) -> bool:
    """Takes the running change further; True when this call completed it. Safe beside itself: one works, others leave."""
    with _alone() as alone:
        found = embedding_models.in_force() if alone else None
        if found is None:
            return False
        current.look_again()
        if found.running is None:
            _tidy(found.used, clock=clock)
            return False
        return (
            _indexed(found.running)
            and _embedded(found.running, clock=clock, stop=clock() + budget)
            and _switch(found.running)
        )


def catch_up(*, clock: Clock = timezone.now) -> int:
    """Queues the memories without a vector of the model in use, those given up among them; how many."""
    unembedded.try_again()
    found = embedding_models.in_force()
    return _queue_lacking(found.used, clock=clock) if found else 0


def measure() -> None:
    """Counts how many memories have the vector they should, for the metrics."""
    if found := embedding_models.in_force():
        coverage.keep(coverage.count(found.aim))


def _indexed(running: Turn) -> bool:
    """The index stands before the first vector: made over empty columns it costs one look at every row."""
    try:
        embedding_models.ensure_index(running.shape)
    except DatabaseError as error:
        logger.warning("the change of the embedding model waits for its index: %s", describe(error))
        return False
    return True


def _embedded(running: Turn, *, clock: Clock, stop: datetime) -> bool:
    """Whether nothing is left to embed, after walking on from where the last walk came to."""
    models = workable()
    if running.row not in wanted(models).values():
        return False
    after = running.walked_to
    while clock() < stop:
        rows = unembedded.walk(wanted(models), after=after, limit=BATCH, now=clock())
        after = rows[-1].id if rows else None
        if rows and not _walked(rows, models, clock=clock):
            return False
        embedding_models.note_walked(running.id, to=after)
        if after is None:
            return not unembedded.any_lacking({running.slot: running.row}, now=clock())
    return False


def _walked(rows: list[unembedded.Unembedded], models: list[Workable], *, clock: Clock) -> bool:
    _, failed = embed_rows(rows, models, clock=clock)
    return not failed


def _tidy(used: Turn, *, clock: Clock) -> None:
    if used.ordered and used.age < TIDIES_FOR:
        _queue_lacking(used, clock=clock)


def _queue_lacking(used: Turn, *, clock: Clock) -> int:
    queued = 0
    while some := unembedded.queue_lacking({used.slot: used.row}, now=clock(), limit=1000):
        queued += some
    return queued


def _switch(running: Turn) -> bool:
    with transaction.atomic():
        if running.age < SETTLES_AFTER or not embedding_models.end(running.id, status="completed"):
            return False
        record("embedding_change_completed", workspace=None, actor=_ACTOR, metadata={"change": str(running.id)})
    current.look_again()
    return True


@contextmanager
def _alone() -> Iterator[bool]:
    """Whether nobody else carries the change on meanwhile; held by the connection, and gone with it."""
    key = lock_key("re-embedding")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        held = bool(cursor.fetchone()[0])
        try:
            yield held
        finally:
            if held:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])
