"""The memories a new text may merge with, nearest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memories.domain.kinds import PROVENANCE
from memories.domain.save import SaveCommand
from memories.store.scope_sql import LIVE, exactly, scope_parameters
from memories.store.vectors import ModelVector
from omnia.db import fetch_dicts, load_sql


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that was compared, with its cosine distance (0 to 2)."""

    id: UUID
    distance: float
    content: str


def nearest(command: SaveCommand, *, vector: ModelVector, candidates: int, now: datetime) -> list[Candidate]:
    """At most `candidates` rows by exact distance, inside the command's scope."""
    sql = load_sql("memories", "nearest_duplicate").format(
        scope=exactly(command.scope), live=LIVE, dimensions=vector.dimensions
    )
    rows = fetch_dicts(
        sql,
        scope_parameters(command.scope, now=now)
        | {
            "container": command.container,
            "evidence_class": PROVENANCE[command.provenance].evidence_class,
            "type": command.type,
            "model": vector.model,
            "vector": vector.vector,
            "candidates": candidates,
        },
    )
    return [Candidate(**row) for row in rows]
