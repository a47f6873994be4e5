"""Gives the rows saved without a vector the one they lack (reference: a vector follows within 60 s).

An embedder that answers nobody is waited for, and counts against no row. A text that it alone refuses
is tried again ever later, and at last given up; meanwhile the others get theirs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from memories.embeddings.base import EmbeddingFailed, Vector
from memories.embeddings.current import Seat, model_row_id, passage_vectors, seat
from memories.embeddings.halfvec import to_halfvec
from memories.store import unembedded
from memories.store.unembedded import Unembedded
from memories.store.vectors import ModelVector
from omnia.metrics import EMBED_REQUESTS

logger = logging.getLogger(__name__)

BATCH = 16
BUDGET = timedelta(seconds=50)
LEASE = timedelta(seconds=45)
OUTAGE_PAUSE = timedelta(seconds=10)
"""With a sweep every 15 s and a provider that rests for 5 s, vectors follow an outage within 30 s."""
FIRST_PAUSE = timedelta(seconds=15)
ATTEMPTS = 5
"""A refused text is tried again after 15, 30, 60 and 120 s, then left to the text search."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep did, in rows."""

    embedded: int = 0
    refused: int = 0
    given_up: int = 0

    def __add__(self, other: Swept) -> Swept:
        return Swept(self.embedded + other.embedded, self.refused + other.refused, self.given_up + other.given_up)


def embed_pending(*, clock: Callable[[], datetime] = timezone.now, budget: timedelta = BUDGET) -> Swept:
    """Embeds due rows until none is left, the embedder fails, or `budget` is spent. Safe beside itself."""
    swept, used = Swept(), seat()
    if used.embedder is None:
        return swept
    stop = clock() + budget
    while (now := clock()) < stop:
        rows = unembedded.claim(limit=BATCH, now=now, lease=now + LEASE)
        if not rows:
            break
        try:
            vectors = passage_vectors([row.text for row in rows], on=used)
        except EmbeddingFailed as failure:
            logger.warning("%d memories wait for a vector: %s", len(rows), failure)
            unembedded.postpone(rows, until=clock() + OUTAGE_PAUSE)
            break
        settled = (_settle(row, vector, used=used, now=clock()) for row, vector in zip(rows, vectors, strict=True))
        swept = sum(settled, swept)
    return swept


def _settle(row: Unembedded, vector: Vector | None, *, used: Seat, now: datetime) -> Swept:
    if vector is None:
        return _refused(row, now=now)
    model = model_row_id(on=used)
    stored = model is not None and unembedded.settle(row, ModelVector(to_halfvec(vector), model, len(vector)))
    return Swept(embedded=int(stored))


def _refused(row: Unembedded, *, now: datetime) -> Swept:
    if row.attempts + 1 < ATTEMPTS:
        unembedded.postpone([row], until=now + FIRST_PAUSE * 2**row.attempts, blamed=True)
        return Swept(refused=1)
    unembedded.postpone([row], until=None, blamed=True)
    EMBED_REQUESTS.labels("given_up").inc()
    logger.warning("a memory stays without a vector: the embedder refused its text %d times", ATTEMPTS)
    return Swept(refused=1, given_up=1)
