"""Re-embedding: the change to another model, with no memory lost and no gap in recall (design: embedding-model).

The new vectors are made beside the old ones, which recall and merges go on with. Once every live memory has one, all
of them take their place in one transaction, and every process turns to the new model with its next request: while a
change runs each of them looks before it embeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from memories.embeddings import current
from memories.embeddings.base import Embedder, EmbeddingFailed
from memories.embeddings.halfvec import to_halfvec
from memories.embeddings.isolation import embed_each
from memories.models import EmbeddingModel
from memories.store import embedding_changes as store
from omnia import metrics
from omnia.audit.record import record
from omnia.config import ConfigError
from omnia.core.actor import Actor
from omnia.core.errors import BadInput, Conflict, FieldProblem, NotFound, Unavailable
from omnia.db import lock_key

BATCH = 64
BUDGET = timedelta(seconds=50)
MOST_DIMENSIONS, LONGEST_MODEL = 2000, 200
SETTLES_AFTER = timedelta(seconds=30)
"""By then every process knows of the change and looks before it embeds."""
TIDIES_FOR = timedelta(minutes=10)
_FIRST = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Progress:
    """A change, and how many of the live memories have their new vector."""

    id: UUID
    model: str
    dimensions: int
    status: str
    requested_at: datetime
    ended_at: datetime | None
    total: int
    done: int

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "model": self.model,
            "dimensions": self.dimensions,
            "status": self.status,
            "requested_at": self.requested_at,
            "ended_at": self.ended_at,
            "memories": self.total,
            "embedded": self.done,
            "coverage": 1.0 if not self.total else round(self.done / self.total, 4),
        }


def request_change(model: str, dimensions: int, *, actor: Actor) -> UUID:
    """Orders the change, once the new model has answered with vectors of this length.

    Raises BadInput for a model or dimension that is none, Conflict `change_running`, or Unavailable `no_embedder` and
    `model_unavailable`.
    """
    config = _changed(model, dimensions)
    _probe(current.embedder_of(config), dimensions)
    now_used = settings.OMNIA.embedding
    store.ensure_index(dimensions)
    try:
        with transaction.atomic():
            change = store.order(
                model=model,
                dimensions=dimensions,
                replaces_model=now_used.model,
                replaces_dimensions=now_used.dimensions,
                by=actor.name,
            )
            facts = {"change": str(change), "model": model, "dimensions": dimensions}
            record("embedding_change_requested", workspace=None, actor=actor, metadata=facts)
    except IntegrityError:
        raise Conflict("A change of the model is running; wait for it, or cancel it.", code="change_running") from None
    return change


def cancel_change(*, actor: Actor) -> None:
    """Gives the running change up; recall never left the old model. Raises NotFound `no_change_running`."""
    with transaction.atomic():
        running = _running()
        if running is None or not store.end(running["id"], status="cancelled"):
            raise NotFound("No change of the model is running.", code="no_change_running")
        store.forget_next()
        record("embedding_change_cancelled", workspace=None, actor=actor, metadata={"change": str(running["id"])})


def progress() -> Progress | None:
    """The running change, else the last completed one; None when the model was never changed."""
    found = {row["status"]: row for row in store.latest()}
    row = found.get("running") or found.get("completed")
    if row is None:
        return None
    covered = store.coverage() if row["status"] == "running" else store.Coverage(0, 0)
    return Progress(
        id=row["id"],
        model=row["model"],
        dimensions=row["dimensions"],
        status=row["status"],
        requested_at=row["requested_at"],
        ended_at=row["ended_at"],
        total=covered.total,
        done=covered.done,
    )


def carry_on(*, clock: Callable[[], datetime] = timezone.now, budget: timedelta = BUDGET) -> bool:
    """Takes the running change further; True when this call completed it. Safe beside itself: one works, others leave.

    Afterwards, and for a while, memories a late writer stored with the old model are put in the queue again.
    """
    with _alone() as alone:
        if not alone:
            return False
        running = _running()
        if running is None:
            _tidy()
            return False
        embedder = current.embedder_of(_changed(running["model"], running["dimensions"]))
        if not _embed_missing(embedder, stop=clock() + budget, clock=clock) or running["age"] < SETTLES_AFTER:
            return False
        return _switch(running["id"], embedder)


def requeue_others() -> int:
    """Puts every memory whose vector is of another model than the one in use in the queue, and those given up.

    Without a running change: after the environment itself named another model. They are found by their words
    until their vector follows.
    """
    model = current.model_row_id(on=current.seat())
    if model is None:
        return 0
    queued = store.retry_given_up()
    while some := store.requeue(model=model, limit=1000):
        queued += some
    return queued


def measure() -> None:
    """Tells Prometheus how much of each workspace has a vector of the model in use."""
    for row in store.by_workspace(model=current.model_row_id(on=current.seat())):
        workspace, total, done = str(row["workspace_id"]), row["total"], row["done"]
        metrics.EMBEDDING_COVERAGE.labels(workspace=workspace).set(done / total)
        metrics.REEMBED_BACKLOG.labels(workspace=workspace).set(total - done)


def _changed(model: str, dimensions: int) -> Any:
    config = settings.OMNIA.embedding
    if config.provider in ("none", "local", "hashing"):
        detail = "Only the providers openai and ollama have another model to change to; set OMNIA_EMBEDDING_PROVIDER."
        raise Unavailable(detail, code="no_embedder")
    if not (model.strip() and model.isprintable() and len(model) <= LONGEST_MODEL):
        raise _invalid("model", f"the model's name has 1 to {LONGEST_MODEL} printable characters")
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise _invalid("dimensions", f"a vector has 1 to {MOST_DIMENSIONS} numbers")
    return replace(config, model=model, dimensions=dimensions)


def _probe(embedder: Embedder | None, dimensions: int) -> None:
    try:
        vector = embedder.embed_query("Does this model answer?") if embedder else None
    except (EmbeddingFailed, ConfigError) as failure:
        raise Unavailable(f"The new model does not answer as it should: {failure}", code="model_unavailable") from None
    if vector is None or len(vector) != dimensions:
        raise Unavailable("The new model gives no vector of this length.", code="model_unavailable")


def _running() -> dict[str, Any] | None:
    return next((row for row in store.latest() if row["status"] == "running"), None)


def _embed_missing(embedder: Embedder | None, *, stop: datetime, clock: Callable[[], datetime]) -> bool:
    """Makes next vectors until none is missing (True), the time is spent, or the model fails (False)."""
    if embedder is None:
        return False
    after = _FIRST
    while clock() < stop:
        rows = store.awaiting(after=after, limit=BATCH)
        if not rows:
            return True
        try:
            vectors = embed_each(embedder.embed_passages, [row.text for row in rows])
        except EmbeddingFailed:
            return False
        store.keep(rows, [None if vector is None else to_halfvec(vector) for vector in vectors])
        after = rows[-1].id
    return False


def _switch(change: UUID, embedder: Embedder | None) -> bool:
    if embedder is None:
        return False
    with transaction.atomic():
        if not store.end(change, status="completed"):
            return False
        model, _ = EmbeddingModel.objects.get_or_create(
            name=embedder.name, defaults={"dimensions": embedder.dimensions}
        )
        store.switch(model=model.pk)
        record("embedding_change_completed", workspace=None, actor=Actor("system:reembed"),
               metadata={"change": str(change)})  # fmt: skip
    return True


def _tidy() -> None:
    if store.ended_lately(TIDIES_FOR) and (model := current.model_row_id(on=current.seat())):
        store.requeue(model=model, limit=1000)


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


def _invalid(field: str, detail: str) -> BadInput:
    return BadInput(
        f"{field}: {detail}.", code=f"invalid_{field}", errors=[FieldProblem(f"/{field}", "invalid", detail)]
    )
