"""The order to change the embedding model, its progress, and its end before the time (design: embedding-model)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction

from memories.embeddings import current
from memories.embeddings.base import Embedder, EmbeddingFailed
from memories.store import coverage, embedding_models, unembedded
from memories.store.coverage import Coverage
from memories.store.embedding_models import InForce, Turn
from omnia.audit.record import record
from omnia.config import LONGEST_MODEL_NAME, EmbeddingConfig
from omnia.core.actor import Actor
from omnia.core.errors import BadInput, Conflict, FieldProblem, NotFound, Unavailable

MOST_DIMENSIONS = 2000


@dataclass(frozen=True, slots=True)
class Progress:
    """The running change, or else the model in use, and how many memories have a vector of it."""

    turn: Turn
    used: Turn
    covered: Coverage

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.turn.id,
            **_model(self.turn),
            "status": self.turn.status,
            "requested_at": self.turn.requested_at,
            "ended_at": self.turn.ended_at,
            "in_use": _model(self.used),
            "memories": self.covered.memories,
            "embedded": self.covered.embedded,
            "given_up": self.covered.given_up,
            "coverage": round(self.covered.share, 4),
        }


def request_change(model: str, dimensions: int, *, actor: Actor) -> UUID:
    """Orders the change to a model of the provider the environment names, or back to one that was in use before.

    Raises BadInput for a model or dimension that is none, Conflict `change_running`, `model_in_use` or
    `change_settling`, or Unavailable `no_embedder` and `model_unavailable`.
    """
    _check(model, dimensions)
    return _order(_wished(model, dimensions), actor=actor)


def request_named(*, actor: Actor) -> UUID | None:
    """Orders the change to the model the environment names; None where it is in use. Raises as `request_change`."""
    found = _in_force()
    if current.named_is(found.used):
        return None
    return _order(settings.OMNIA.embedding, actor=actor)


def cancel_change(*, actor: Actor) -> None:
    """Gives the running change up; recall never left the old model. Raises NotFound `no_change_running`."""
    found = embedding_models.in_force()
    running = found.running if found else None
    with transaction.atomic():
        if running is None or not embedding_models.end(running.id, status="cancelled"):
            raise NotFound("No change of the model is running.", code="no_change_running")
        record("embedding_change_cancelled", workspace=None, actor=actor, metadata={"change": str(running.id)})
    current.look_again()


def progress() -> Progress | None:
    """None while no vector was ever made."""
    found = embedding_models.in_force()
    return Progress(found.aim, found.used, coverage.total(coverage.count(found.aim))) if found else None


def _order(config: EmbeddingConfig, *, actor: Actor) -> UUID:
    found = _in_force()
    embedder = current.embedder_of(config)
    dimensions = _probed(embedder, config.dimensions)
    with transaction.atomic():
        row = embedding_models.model_row(embedder.name if embedder else "", dimensions=dimensions)
        _admit(row, found)
        try:
            with transaction.atomic():
                config = config.with_dimensions(dimensions)
                change = embedding_models.order(config, row=row, slot=found.used.slot.other, by=actor.name)
        except IntegrityError:
            detail = "A change of the model is running; wait for it, or cancel it."
            raise Conflict(detail, code="change_running") from None
        unembedded.try_again()
        record("embedding_change_requested", workspace=None, actor=actor, metadata=_facts(change, config))
    current.look_again()
    return change


def _facts(change: UUID, config: EmbeddingConfig) -> Mapping[str, Any]:
    return {"change": str(change), "model": config.model or config.provider, "dimensions": config.dimensions}


def _admit(row: int, found: InForce) -> None:
    if row == found.used.row:
        raise Conflict("This model is in use.", code="model_in_use")
    if found.settles and not (found.former and found.former.row == row):
        detail = "A change ended seconds ago, and not every process knows yet; ask again in a minute."
        raise Conflict(detail, code="change_settling", headers={"Retry-After": "60"})


def _in_force() -> InForce:
    """What is in use; with no vector made so far, the model the environment names is put in use first."""
    found = embedding_models.in_force()
    if found is None:
        try:
            current.seat().model_row_id()
        except EmbeddingFailed as failure:
            raise Unavailable(f"The model in use does not answer: {failure}", code="model_unavailable") from None
        current.look_again()
        found = embedding_models.in_force()
    if found is None:
        raise _no_other()
    return found


def _wished(model: str, dimensions: int) -> EmbeddingConfig:
    named: EmbeddingConfig = settings.OMNIA.embedding
    before = embedding_models.known(model, dimensions)
    if before and (before.config.provider != named.provider or not named.remote):
        return current.reachable(before)
    if not named.remote:
        raise _no_other()
    return EmbeddingConfig(
        named.provider,
        named.url,
        model,
        named.api_key,
        dimensions=dimensions,
        query_prefix=named.query_prefix,
        passage_prefix=named.passage_prefix,
        timeout_seconds=named.timeout_seconds,
    )


def _probed(embedder: Embedder | None, dimensions: int) -> int:
    """How long the model's vectors are, once it has answered; `dimensions` 0 leaves that to the model."""
    try:
        vector = embedder.embed_query("Does this model answer?") if embedder else None
    except EmbeddingFailed as failure:
        raise Unavailable(f"The new model does not answer as it should: {failure}", code="model_unavailable") from None
    if vector is None or (dimensions and len(vector) != dimensions) or len(vector) > MOST_DIMENSIONS:
        raise Unavailable("The new model gives no vector of this length.", code="model_unavailable")
    return len(vector)


def _check(model: str, dimensions: int) -> None:
    if not (model.strip() and model.isprintable() and len(model) <= LONGEST_MODEL_NAME):
        raise _invalid("model", f"the model's name has 1 to {LONGEST_MODEL_NAME} printable characters")
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise _invalid("dimensions", f"a vector has 1 to {MOST_DIMENSIONS} numbers")


def _no_other() -> Unavailable:
    detail = "Only the providers openai and ollama have another model to change to; set OMNIA_EMBEDDING_PROVIDER."
    return Unavailable(detail, code="no_embedder")


def _invalid(field: str, detail: str) -> BadInput:
    return BadInput(
        f"{field}: {detail}.", code=f"invalid_{field}", errors=[FieldProblem(f"/{field}", "invalid", detail)]
    )


def _model(turn: Turn) -> dict[str, Any]:
    return {
        "provider": turn.config.provider,
        "model": turn.config.model or turn.name,
        "dimensions": turn.config.dimensions,
    }
