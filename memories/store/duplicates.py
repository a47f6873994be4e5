"""The memories a new text may merge with, nearest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memories.domain.kinds import PROVENANCE
from memories.domain.save import SaveCommand
from memories.store.scope_sql import LIVE, exactly, scope_parameters
from memories.store.vectors import ModelVector
from omnia.core.scope import Scope
from omnia.db import fetch_dicts, load_sql


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that was compared, with its cosine distance (0 to 2)."""

    id: UUID
    distance: float
    content: str


@dataclass(frozen=True, slots=True)
class Alike:
    """The rows a text may merge with: those of this scope, container, evidence class and type."""

    scope: Scope
    container: str | None
    evidence_class: str
    type: str

    @staticmethod
    def of(command: SaveCommand) -> Alike:
        evidence_class = PROVENANCE[command.provenance].evidence_class
        return Alike(command.scope, command.container, evidence_class, command.type)


def nearest(alike: Alike, *, vector: ModelVector, candidates: int, now: datetime) -> list[Candidate]:
    """At most `candidates` of the live rows, by exact distance."""
    sql = load_sql("memories", "nearest_duplicate").format(
        scope=exactly(alike.scope), live=LIVE, dimensions=vector.dimensions, slot=vector.slot
    )
    rows = fetch_dicts(
        sql,
        scope_parameters(alike.scope, now=now)
        | {
            "container": alike.container,
            "evidence_class": alike.evidence_class,
            "type": alike.type,
            "model": vector.model,
            "vector": vector.vector,
            "candidates": candidates,
        },
    )
    return [Candidate(**row) for row in rows]
