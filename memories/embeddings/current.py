"""The embedder this process uses, built when the first vector is asked for.

A vector only improves a ranking, so nothing here fails a save or a recall: `passage_vector` and
`query_vector` answer None when there is no embedder, when it fails, and when the text has no vector.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from django.conf import settings
from django.db import DatabaseError, transaction

from memories.embeddings.base import Embedder, EmbeddingFailed, Unavailable, Vector
from memories.embeddings.build import build
from memories.embeddings.cache import VectorCache
from memories.embeddings.isolation import embed_each
from memories.embeddings.shared_cache import SharedVectors
from memories.models import EmbeddingModel
from memories.store import embedding_changes
from omnia.config import ConfigError, EmbeddingConfig
from omnia.logs import describe
from omnia.metrics import EMBED_REQUESTS, EMBED_SECONDS

logger = logging.getLogger(__name__)

_QUERIES = 2048
_LOOKS_EVERY_SECONDS = 10.0
FoundT = TypeVar("FoundT")


@dataclass(slots=True)
class Seat:
    """An embedder, with what is remembered for it and for no other."""

    embedder: Embedder | None
    config: EmbeddingConfig | None = None
    """What it was built from; None for one that a test put here, which no change replaces."""
    changing: bool = False
    """Whether a change to another model runs: then every request looks before it embeds."""
    queries: VectorCache = field(default_factory=lambda: VectorCache(size=_QUERIES))
    shared: SharedVectors | None = None
    row_id: int | None = None


class _Process:
    """What this process uses now."""

    seat: Seat | None = None
    building = threading.Lock()
    looks_again = 0.0


def current() -> Embedder | None:
    """The configured embedder, or None for provider `none`. One that cannot be built fails when it is asked."""
    return _current_seat().embedder


def seat() -> Seat:
    """The model to embed with now, and all that belongs to it: ask once for a vector and its model.

    Follows a change to another model: within ten seconds to its beginning, at once to its end.
    """
    found = _current_seat()
    if found.config is not None and (found.changing or time.monotonic() >= _Process.looks_again):
        _look(found)
    return _Process.seat or found


def embedder_of(config: EmbeddingConfig) -> Embedder | None:
    """The embedder of these settings. One that cannot be built fails when it is asked."""
    try:
        return build(config)
    except Exception as failure:  # noqa: BLE001 - a wrong setting, a damaged file, a runtime this machine cannot load
        return Unavailable(failure)


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


def passage_vector(text: str, *, on: Seat | None = None) -> Vector | None:
    """The vector of a text to store. Never raises; waits no longer than the embedding timeout for one answer."""
    return _or_none(lambda: _passages([text], on)[0])


def query_vector(text: str, *, on: Seat | None = None) -> Vector | None:
    """The vector to search with, remembered for the next time. Never raises."""
    return _or_none(lambda: _query(text, on or _current_seat()))


def passage_vectors(texts: Sequence[str], *, on: Seat | None = None) -> list[Vector | None]:
    """One entry per text; None where this very text has no vector, whatever the others are.

    Raises EmbeddingFailed when the embedder takes no text now. Asks more than once when a batch fails.
    """
    used = on or _current_seat()
    return embed_each(lambda some: _passages(some, used), texts) if used.embedder else [None] * len(texts)


def passage_vectors_or_none(texts: Sequence[str], *, on: Seat | None = None) -> list[Vector | None]:
    """As `passage_vectors`, and never raises: one entry per text, all None when the embedder takes none now."""
    return _or_none(lambda: passage_vectors(texts, on=on)) or [None] * len(texts)


def model_row_id(*, on: Seat | None = None) -> int | None:
    """The EmbeddingModel row of the current embedder, made on first use; None for provider `none`.

    Ask after a vector came: a provider that has not answered yet may not have told its dimension,
    and then this raises EmbeddingFailed.
    """
    seat = on or _current_seat()
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
    former, _Process.seat = _Process.seat, Seat(embedder)
    try:
        yield
    finally:
        _Process.seat = former


def _current_seat() -> Seat:
    found = _Process.seat
    if found is None:
        with _Process.building:
            found = _Process.seat = _Process.seat or _seated(settings.OMNIA.embedding)
    return found


def _seated(config: EmbeddingConfig) -> Seat:
    return Seat(embedder_of(config), config=config)


def _look(found: Seat) -> None:
    """Turns to the model that holds now. A store that is away leaves everything as it is."""
    try:
        changes = {row["status"]: row for row in embedding_changes.latest()}
    except DatabaseError:
        return
    config = _in_force(changes.get("completed"))
    with _Process.building:
        if config != found.config:
            _Process.seat = found = _seated(config)
        found.changing = "running" in changes
        _Process.looks_again = time.monotonic() + _LOOKS_EVERY_SECONDS


def _in_force(completed: Mapping[str, Any] | None) -> EmbeddingConfig:
    """What the environment names, or what replaced it as long as it names the same."""
    named: EmbeddingConfig = settings.OMNIA.embedding
    if completed is None:
        return named
    replaced = completed["replaces_model"], completed["replaces_dimensions"]
    if replaced != (named.model, named.dimensions):
        return named
    return replace(named, model=completed["model"], dimensions=completed["dimensions"])


def _passages(texts: Sequence[str], on: Seat | None = None) -> list[Vector | None]:
    embedder = (on or _current_seat()).embedder
    if embedder is None:
        return [None] * len(texts)
    return _measured(lambda: embedder.embed_passages(texts))


def _query(text: str, seat: Seat) -> Vector | None:
    embedder = seat.embedder
    if embedder is None:
        return None
    vector = seat.queries.get(text)
    if vector is None:
        vector = _shared_query(seat, embedder, text)
        if vector is not None:
            seat.queries.put(text, vector)
    return vector


def _shared_query(seat: Seat, embedder: Embedder, text: str) -> Vector | None:
    """The vector another process made of late, else a new one, left there for the others."""
    vector = seat.shared.get(text) if seat.shared else None
    if vector is not None:
        return vector
    (vector,) = _measured(lambda: [embedder.embed_query(text)])
    if vector is not None and seat.config is not None:
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
