"""Gives the rows saved without a vector the one they lack (reference: a vector follows within 60 s).

An embedder that answers nobody is waited for, and counts against no row. A text that it alone refuses
is tried again ever later, and at last given up; meanwhile the others get theirs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from memories.embeddings import current
from memories.embeddings.base import EmbeddingFailed, Vector
from memories.embeddings.seat import Seat
from memories.services.vectors import of_model
from memories.store import unembedded
from memories.store.unembedded import ATTEMPTS, Unembedded, Wanted
from omnia.metrics import EMBED_REQUESTS

logger = logging.getLogger(__name__)

BATCH = 16
BUDGET = timedelta(seconds=50)
LEASE = timedelta(seconds=45)
OUTAGE_PAUSE = timedelta(seconds=10)
"""With a sweep every 15 s and a provider that rests for 5 s, vectors follow an outage within 30 s."""
FIRST_PAUSE = timedelta(seconds=15)
"""A refused text is tried again after 15, 30, 60 and 120 s, then left to the text search."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep did, in rows."""

    embedded: int = 0
    refused: int = 0
    given_up: int = 0

    def __add__(self, other: Swept) -> Swept:
        return Swept(self.embedded + other.embedded, self.refused + other.refused, self.given_up + other.given_up)


@dataclass(frozen=True, slots=True)
class Workable:
    """A model that can be asked now."""

    seat: Seat
    row: int


def workable() -> list[Workable]:
    """The models in use; one that cannot tell its name yet is left out, as it has no vectors either."""
    using = current.in_use()
    found = []
    for seat in (using.active, using.beside):
        try:
            row = seat.model_row_id() if seat else None
        except EmbeddingFailed as failure:
            logger.warning("no vectors are made: %s", failure)
            continue
        if seat and row is not None:
            found.append(Workable(seat, row))
    return found


def wanted(models: Sequence[Workable]) -> Wanted:
    return {model.seat.slot: model.row for model in models}


def embed_pending(*, clock: Callable[[], datetime] = timezone.now, budget: timedelta = BUDGET) -> Swept:
    """Embeds due rows until none is left, no embedder answers, or `budget` is spent. Safe beside itself."""
    swept, models = Swept(), workable()
    stop = clock() + budget
    while models and (now := clock()) < stop:
        rows = unembedded.claim(wanted(models), limit=BATCH, now=now, lease=now + LEASE)
        if not rows:
            break
        done, failed = embed_rows(rows, models, clock=clock)
        swept += done
        models = [model for model in models if model not in failed]
    return swept


def embed_rows(
    rows: Sequence[Unembedded], models: Sequence[Workable], *, clock: Callable[[], datetime]
) -> tuple[Swept, list[Workable]]:
    """Gives each row what it lacks of these models; what was done, and the models that take no text now."""
    made, failed = dict[tuple[Unembedded, Workable], Vector | None](), list[Workable]()
    for model in models:
        lacking = [row for row in rows if row.lacks(model.seat.slot, model.row)]
        try:
            vectors = model.seat.passage_vectors([row.text for row in lacking]) if lacking else []
        except EmbeddingFailed as failure:
            logger.warning("%d memories wait for a vector: %s", len(lacking), failure)
            failed.append(model)
        else:
            made |= {(row, model): vector for row, vector in zip(lacking, vectors, strict=True)}
    swept = Swept()
    for row in rows:
        answers = {model: made[row, model] for model in models if (row, model) in made}
        waits = any(row.lacks(model.seat.slot, model.row) for model in failed)
        swept += _settle(row, answers, waits=waits, now=clock())
    return swept, failed


def _settle(row: Unembedded, answers: dict[Workable, Vector | None], *, waits: bool, now: datetime) -> Swept:
    """`waits`: a model did not answer for this row."""
    refused = any(vector is None for vector in answers.values())
    vectors = [made for model, vector in answers.items() if (made := of_model(vector, model.seat))]
    stored = bool(vectors) and unembedded.settle(row, vectors, done=not (refused or waits))
    if waits:
        unembedded.postpone([row], until=now + OUTAGE_PAUSE)
    elif refused:
        return Swept(embedded=int(stored)) + _refused(row, now=now)
    return Swept(embedded=int(stored))


def _refused(row: Unembedded, *, now: datetime) -> Swept:
    if row.attempts + 1 < ATTEMPTS:
        unembedded.postpone([row], until=now + FIRST_PAUSE * 2**row.attempts, blamed=True)
        return Swept(refused=1)
    unembedded.postpone([row], until=None, blamed=True)
    EMBED_REQUESTS.labels("given_up").inc()
    logger.warning("a memory stays without a vector: the embedder refused its text %d times", ATTEMPTS)
    return Swept(refused=1, given_up=1)
