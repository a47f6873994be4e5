"""The models this process uses: the one in use, and during a change the one beside it (design: embedding-model).

Which these are stands in the database, so that all processes turn to another model together; how to reach the one the
environment names stands there. A model in use that the environment does not name is built again from its description.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.conf import settings
from django.db import Error, connection

from memories.embeddings.base import Embedder, EmbeddingFailed, Unavailable
from memories.embeddings.build import build
from memories.embeddings.seat import Seat
from memories.store import embedding_models
from memories.store.embedding_models import InForce, Turn
from memories.store.vectors import Slot
from omnia.config import ConfigError, EmbeddingConfig

logger = logging.getLogger(__name__)

LOOKS_EVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class InUse:
    """Questions are asked and memories compared by `active`; what is written gets a vector of both."""

    active: Seat
    beside: Seat | None = None


@dataclass(slots=True)
class _Process:
    """What this process uses now, and when it looks again."""

    in_use: InUse | None = None
    looks_again: float = 0.0
    named: Seat | None = None
    """The model of the environment, while none is in use yet."""
    seats: dict[tuple[int, Slot], Seat] = field(default_factory=dict)
    looking: threading.Lock = field(default_factory=threading.Lock)


_process = _Process()
_NO_SEAT = InUse(Seat(None))


def in_use() -> InUse:
    """The models to use now: ask once for what belongs together. Follows a change within ten seconds."""
    process = _process
    if time.monotonic() >= process.looks_again and process.looking.acquire(blocking=process.in_use is None):
        try:
            if time.monotonic() >= process.looks_again:
                process.in_use = _found(process)
                process.looks_again = time.monotonic() + LOOKS_EVERY_SECONDS
        finally:
            process.looking.release()
    return process.in_use or _NO_SEAT


def look_again() -> None:
    """Has the next request of this process see at once what was changed."""
    _process.looks_again = 0.0


def seat() -> Seat:
    """The model in use."""
    return in_use().active


def embedder_of(config: EmbeddingConfig) -> Embedder | None:
    """The embedder of these settings. One that cannot be built fails when it is asked."""
    try:
        return build(config)
    except Exception as failure:  # noqa: BLE001 - a wrong setting, a damaged file, a runtime this machine cannot load
        return Unavailable(failure)


def named_is(turn: Turn) -> bool:
    """Whether the environment names the model of this turn."""
    named: EmbeddingConfig = settings.OMNIA.embedding
    return named.with_dimensions(named.dimensions or turn.config.dimensions).names_the_model_of(turn.config)


def warm() -> None:
    """Builds the embedder now, so that the first request does not wait for it.

    Raises what kept it from being built: EmbeddingFailed for a missing or altered file of the local model,
    ConfigError for a setting. A provider that does not answer yet is no reason not to start.
    """
    used = seat()
    if isinstance(used.embedder, Unavailable):
        raise used.embedder.failure
    used.query_vector("warm")


def warm_in_background() -> None:
    """Warms up beside the first requests; a web process that cannot says so in its log and serves by words."""
    threading.Thread(target=_warmed, name="embedder-warm-up", daemon=True).start()


def _warmed() -> None:
    try:
        warm()
    except (EmbeddingFailed, ConfigError) as failure:
        logger.error("no embedder: %s", failure)  # noqa: TRY400 - the message names the fix, a trace adds nothing
    finally:
        connection.close()


@contextmanager
def use(embedder: Embedder | None, *, beside: Embedder | None = None) -> Iterator[None]:
    """Puts `embedder` in place of what is in use, with fresh caches, for the whole process. For tests."""
    global _process  # noqa: PLW0603 - what a process uses is one thing
    pinned = InUse(Seat(embedder), Seat(beside, slot=Slot.SECOND) if beside else None)
    former, _process = _process, _Process(pinned, looks_again=float("inf"))
    try:
        yield
    finally:
        _process = former


def _found(process: _Process) -> InUse:
    named: EmbeddingConfig = settings.OMNIA.embedding
    if named.provider == "none":
        return _NO_SEAT
    try:
        found = embedding_models.in_force()
        if found is None or (not named_is(found.used) and embedding_models.gives_way(found)):
            return InUse(_named_seat(process, named))
    except Error:  # a store that is away leaves everything as it was
        return process.in_use or InUse(_named_seat(process, named))
    return _seated(process, found)


def _seated(process: _Process, found: InForce) -> InUse:
    if process.in_use is None and not named_is(found.used):
        logger.warning(
            "the settings name another embedding model than %s (%d dimensions), which stays in use until "
            "`manage.py reembed` has changed to theirs",
            found.used.name,
            found.used.config.dimensions,
        )
    return InUse(_seat_of(process, found.used), _seat_of(process, found.beside) if found.beside else None)


def _named_seat(process: _Process, named: EmbeddingConfig) -> Seat:
    if process.named is None:
        process.named = Seat(embedder_of(named), shares=True, adopts=named)
    return process.named


def _seat_of(process: _Process, turn: Turn) -> Seat:
    """Its seat as before, so that its caches stay; a model is built once."""
    seated = process.seats.get((turn.row, turn.slot))
    if seated is None:
        built = process.named.embedder if process.named and named_is(turn) else embedder_of(reachable(turn))
        seated = process.seats[turn.row, turn.slot] = Seat(built, slot=turn.slot, row_id=turn.row, shares=True)
    return seated


def reachable(turn: Turn) -> EmbeddingConfig:
    """How the model is reached from here: as the environment says where it names it, else as it was reached then.

    A key goes to the service the environment names, and to the former one only if it was given for that.
    """
    named: EmbeddingConfig = settings.OMNIA.embedding
    if named_is(turn):
        return named.with_dimensions(turn.config.dimensions)
    return turn.config.reached_like(named)
