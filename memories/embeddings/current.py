"""The embedder this process uses, built when the first vector is asked for.

A vector only improves a ranking, so nothing here fails a save or a recall: `passage_vector` and
`query_vector` answer None when there is no embedder, when it fails, and when the text has no vector.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from django.conf import settings
from django.db import transaction

from memories.embeddings.base import Embedder, EmbeddingFailed, Unavailable, Vector
from memories.embeddings.build import build
from memories.embeddings.cache import VectorCache
from memories.embeddings.isolation import embed_each
from memories.embeddings.shared_cache import SharedVectors
from memories.models import EmbeddingModel
from omnia.config import ConfigError
from omnia.logs import describe
from omnia.metrics import EMBED_REQUESTS, EMBED_SECONDS

logger = logging.getLogger(__name__)

_QUERIES = 2048
FoundT = TypeVar("FoundT")


@dataclass(slots=True)
class _Seat:
    """An embedder, with what is remembered for it and for no other."""

    embedder: Embedder | None
    queries: VectorCache = field(default_factory=lambda: VectorCache(size=_QUERIES))
    shares: bool = False
    """Whether its query vectors are shared with other processes."""
    shared: SharedVectors | None = None
    row_id: int | None = None


class _Process:
    """What this process uses now."""

    seat: _Seat | None = None
    building = threading.Lock()


def current() -> Embedder | None:
    """The configured embedder, or None for provider `none`. One that cannot be built fails when it is asked."""
    return _current_seat().embedder


def warm() -> None:
    """Builds the embedder now, so that the first request does not wait for it.

    Raises what kept it from being built: EmbeddingFailed for a missing or altered file of the local model,
    ConfigError for a setting. A provider that does not answer yet is no reason not to start.
    """
    embedder = current()
    if isinstance(embedder, Unavailable):
        raise embedder.failure
    query_vector("warm")


def warm_in_background() -> None:
    """Warms up beside the first requests; a web process that cannot says so in its log and serves by words."""
    threading.Thread(target=_warmed, name="embedder-warm-up", daemon=True).start()


def _warmed() -> None:
    try:
        warm()
    except (EmbeddingFailed, ConfigError) as failure:
        logger.error("no embedder: %s", failure)  # noqa: TRY400 - the message names the fix, a trace adds nothing


def passage_vector(text: str) -> Vector | None:
    """The vector of a text to store. Never raises; waits no longer than the embedding timeout for one answer."""
    return _or_none(lambda: _passages([text])[0])


def query_vector(text: str) -> Vector | None:
    """The vector to search with, remembered for the next time. Never raises."""
    return _or_none(lambda: _query(text))


def passage_vectors(texts: Sequence[str]) -> list[Vector | None]:
    """One entry per text; None where this very text has no vector, whatever the others are.

    Raises EmbeddingFailed when the embedder takes no text now. Asks more than once when a batch fails.
    """
    return embed_each(_passages, texts) if current() else [None] * len(texts)


def passage_vectors_or_none(texts: Sequence[str]) -> list[Vector | None]:
    """As `passage_vectors`, and never raises: one entry per text, all None when the embedder takes none now."""
    return _or_none(lambda: passage_vectors(texts)) or [None] * len(texts)


def model_row_id() -> int | None:
    """The EmbeddingModel row of the current embedder, made on first use; None for provider `none`.

    Ask after a vector came: a provider that has not answered yet may not have told its dimension,
    and then this raises EmbeddingFailed.
    """
    seat = _current_seat()
    if seat.embedder is None or seat.row_id is not None:
        return seat.row_id
    name, dimensions = seat.embedder.name, seat.embedder.dimensions
    row_id = EmbeddingModel.objects.get_or_create(name=name, defaults={"dimensions": dimensions})[0].pk
    # Remembered once it is committed only: a rollback takes the row away again.
    transaction.on_commit(lambda: setattr(seat, "row_id", row_id))
    return row_id


@contextmanager
def use(embedder: Embedder | None) -> Iterator[None]:
    """Puts `embedder` in place of the configured one, with fresh caches, for the whole process. For tests."""
    former, _Process.seat = _Process.seat, _Seat(embedder)
    try:
        yield
    finally:
        _Process.seat = former


def _current_seat() -> _Seat:
    seat = _Process.seat
    if seat is None:
        with _Process.building:
            seat = _Process.seat = _Process.seat or _Seat(_configured(), shares=True)
    return seat


def _configured() -> Embedder | None:
    try:
        return build(settings.OMNIA.embedding)
    except Exception as failure:  # noqa: BLE001 - a wrong setting, a damaged file, a runtime this machine cannot load
        return Unavailable(failure)


def _passages(texts: Sequence[str]) -> list[Vector | None]:
    embedder = current()
    if embedder is None:
        return [None] * len(texts)
    return _measured(lambda: embedder.embed_passages(texts))


def _query(text: str) -> Vector | None:
    seat = _current_seat()
    embedder = seat.embedder
    if embedder is None:
        return None
    vector = seat.queries.get(text)
    if vector is None:
        vector = _shared_query(seat, embedder, text)
        if vector is not None:
            seat.queries.put(text, vector)
    return vector


def _shared_query(seat: _Seat, embedder: Embedder, text: str) -> Vector | None:
    """The vector another process made of late, else a new one, left there for the others."""
    vector = seat.shared.get(text) if seat.shared else None
    if vector is not None:
        return vector
    (vector,) = _measured(lambda: [embedder.embed_query(text)])
    if vector is not None and seat.shares:
        # Known by now: a provider tells its dimension with its first answer.
        seat.shared = seat.shared or SharedVectors(embedder.name, dimensions=len(vector))
        seat.shared.put(text, vector)
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
