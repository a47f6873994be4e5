"""The statements that write one memory, and read it back inside the same transaction."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from memories.domain.kinds import PROVENANCE
from memories.domain.wording import Wording
from memories.store.rows import FROM, SELECT
from memories.store.scope_sql import LIVE, Where, exactly, scope_parameters
from memories.store.vectors import ModelVector
from omnia.core.ids import uuid7
from omnia.core.scope import Scope
from omnia.db import execute, fetch_dicts, load_sql

_WORDING = ", ".join(f"m.{field.name}" for field in fields(Wording))


@dataclass(frozen=True, slots=True)
class Change:
    """Why a wording gives way, and who says so.

    `reinforced` counts it as evidence; `keeps_vector` says that the text the vector stands for is the same.
    """

    reason: str
    actor: str
    now: datetime
    reinforced: bool = False
    keeps_vector: bool = False


def insert(
    wording: Wording,
    *,
    scope: Scope,
    provenance: str,
    container: str | None,
    entity: UUID | None,
    vector: ModelVector | None,
    embeds: bool,
    now: datetime,
) -> UUID:
    """Stores a new memory and answers its id. `embeds` says that a missing vector should follow later."""
    memory = uuid7()
    known = PROVENANCE[provenance]
    parameters = (
        _wording_parameters(wording)
        | _vector_parameters(vector, embeds=embeds, now=now)
        | scope_parameters(scope, now=now)
        | {
            "id": memory,
            "tier": scope.tier.code,
            "container": container,
            "entity": entity,
            "evidence_class": known.evidence_class,
            "source_type": known.source_type,
        }
    )
    execute(load_sql("memories", "insert_memory"), parameters)
    return memory


def replace(memory: UUID, wording: Wording, *, vector: ModelVector | None, embeds: bool, change: Change) -> bool:
    """Gives a live memory a newer wording and keeps the old one; False when it is no longer live."""
    sql = load_sql("memories", "replace_wording").format(live=LIVE)
    parameters = (
        _wording_parameters(wording)
        | _vector_parameters(vector, embeds=embeds, now=change.now)
        | asdict(change)
        | {"id": memory, "wording_id": uuid7()}
    )
    return bool(fetch_dicts(sql, parameters))


def wording_of(memory: UUID) -> Wording:
    """What a memory says now; its row stays locked until the transaction ends."""
    [row] = fetch_dicts(f"SELECT {_WORDING} FROM memories_memory m WHERE m.id = %(id)s FOR UPDATE", {"id": memory})
    return Wording.of_row(row)


def wordings(memory: UUID) -> list[dict[str, Any]]:
    """The earlier wordings, newest first."""
    return fetch_dicts(
        "SELECT type, content, title, summary, confidence, said_at, replaced_at, reason, actor"
        " FROM memories_wording WHERE memory_id = %(id)s ORDER BY replaced_at DESC, id DESC",
        {"id": memory},
    )


def read(memory: UUID, *, where: Where) -> dict[str, Any] | None:
    """The columns of a memory object, if the row lies within `where`."""
    sql = f"SELECT {SELECT} FROM {FROM} WHERE m.id = %(id)s AND {where.sql}"
    rows = fetch_dicts(sql, where.parameters | {"id": memory})
    return rows[0] if rows else None


def written(memory: UUID, *, scope: Scope, now: datetime) -> dict[str, Any]:
    """The columns of a row this transaction wrote."""
    row = read(memory, where=Where(exactly(scope), scope_parameters(scope, now=now)))
    if row is None:
        raise LookupError("a memory just written is not there")
    return row


def _wording_parameters(wording: Wording) -> dict[str, Any]:
    turns = wording.turn_range
    return asdict(wording) | {
        "metadata": orjson.dumps(dict(wording.metadata)).decode(),
        "category": wording.consent_category,
        "turn_range": list(turns) if turns else None,
    }


def _vector_parameters(vector: ModelVector | None, *, embeds: bool, now: datetime) -> dict[str, Any]:
    return {
        "vector": vector.vector if vector else None,
        "model": vector.model if vector else None,
        "embed_after": now if vector is None and embeds else None,
    }
