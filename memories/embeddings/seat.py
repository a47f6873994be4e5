"""An embedder in use, with what is remembered for it and for no other.

A vector only improves a ranking, so `passage_vector` and `query_vector` fail no save and no recall: they answer None
when there is no embedder, when it fails, and when the text has no vector.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from django.db import transaction

from memories.embeddings.base import Embedder, EmbeddingFailed, Vector
from memories.embeddings.cache import VectorCache
from memories.embeddings.isolation import embed_each
from memories.embeddings.shared_cache import SharedVectors
from memories.store import embedding_models
from memories.store.vectors import Slot
from omnia.config import EmbeddingConfig
from omnia.logs import describe
from omnia.metrics import EMBED_REQUESTS, EMBED_SECONDS

logger = logging.getLogger(__name__)

_QUERIES = 2048
FoundT = TypeVar("FoundT")


class Seat:
    """`slot` is where its vectors stand; `row_id` the EmbeddingModel row, where it is known already.

    `shares`: its query vectors are shared with other processes. `adopts` is what the embedder was built from, where no
    model is in use yet: it is put in use with its first vector.
    """

    def __init__(
        self,
        embedder: Embedder | None,
        *,
        slot: Slot = Slot.FIRST,
        row_id: int | None = None,
        shares: bool = False,
        adopts: EmbeddingConfig | None = None,
    ) -> None:
        self.embedder, self.slot, self.shares, self.adopts = embedder, slot, shares, adopts
        self._row_id = row_id
        self._queries = VectorCache(size=_QUERIES)
        self._shared: SharedVectors | None = None

    def passage_vector(self, text: str) -> Vector | None:
        """The vector of a text to store. Never raises; waits no longer than the embedding timeout for one answer."""
        return _or_none(lambda: self._passages([text])[0])

    def query_vector(self, text: str) -> Vector | None:
        """The vector to search with, remembered for the next time. Never raises."""
        return _or_none(lambda: self._query(text))

    def passage_vectors(self, texts: Sequence[str]) -> list[Vector | None]:
        """One entry per text; None where this very text has no vector, whatever the others are.

        Raises EmbeddingFailed when the embedder takes no text now. Asks more than once when a batch fails.
        """
        return embed_each(self._passages, texts) if self.embedder else [None] * len(texts)

    def passage_vectors_or_none(self, texts: Sequence[str]) -> list[Vector | None]:
        """As `passage_vectors`, and never raises: one entry per text, all None when the embedder takes none now."""
        return _or_none(lambda: self.passage_vectors(texts)) or [None] * len(texts)

    def model_row_id(self) -> int | None:
        """The EmbeddingModel row of the embedder, made on first use; None without an embedder, or where another is in use.

        Ask after a vector came: a provider that has not answered yet may not have told its dimension,
        and then this raises EmbeddingFailed.
        """
        if self.embedder is None or self._row_id is not None:
            return self._row_id
        name, dimensions = self.embedder.name, self.embedder.dimensions
        with transaction.atomic():
            row_id = embedding_models.model_row(name, dimensions=dimensions)
            if self.adopts and not embedding_models.adopt(self.adopts.with_dimensions(dimensions), row=row_id):
                return None
        # Remembered once it is committed only: a rollback takes the row away again.
        transaction.on_commit(lambda: setattr(self, "_row_id", row_id))
        return row_id

    def _passages(self, texts: Sequence[str]) -> list[Vector | None]:
        embedder = self.embedder
        return _measured(lambda: embedder.embed_passages(texts)) if embedder else [None] * len(texts)

    def _query(self, text: str) -> Vector | None:
        if self.embedder is None:
            return None
        vector = self._queries.get(text)
        if vector is None:
            vector = self._shared_query(self.embedder, text)
            if vector is not None:
                self._queries.put(text, vector)
        return vector

    def _shared_query(self, embedder: Embedder, text: str) -> Vector | None:
        """The vector another process made of late, else a new one, left there for the others."""
        vector = self._shared.get(text) if self._shared else None
        if vector is not None:
            return vector
        (vector,) = _measured(lambda: [embedder.embed_query(text)])
        if vector is not None and self.shares:
            # Known by now: a provider tells its dimension with its first answer.
            self._shared = self._shared or SharedVectors(embedder.name, dimensions=len(vector))
            self._shared.put(text, vector)
        return vector


def _measured(embed: Callable[[], list[Vector | None]]) -> list[Vector | None]:
    started, outcome = time.perf_counter(), "failed"
    try:
        vectors = embed()
    except EmbeddingFailed:
        raise
    except Exception as error:
        # Whatever a model throws is its failure, and must not become one of the save or of the sweep.
        raise EmbeddingFailed(f"the model failed with {describe(error)}") from error
    else:
        outcome = "unusable" if any(vector is None for vector in vectors) else "ok"
        return vectors
    finally:
        EMBED_REQUESTS.labels(outcome).inc()
        EMBED_SECONDS.observe(time.perf_counter() - started)


def _or_none(embed: Callable[[], FoundT]) -> FoundT | None:
    try:
        return embed()
    except EmbeddingFailed as failure:
        logger.warning("no vector: %s", failure)
        return None
