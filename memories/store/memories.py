"""The statements that write one memory and answer it, and those that read one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from memories.domain.kinds import PROVENANCE
from memories.domain.wording import Wording
from memories.store.rows import FROM, RETURNING, SELECT
from memories.store.scope_sql import LIVE, Where, exactly, scope_parameters
from memories.store.vectors import ModelVector, column_parameters
from omnia.core.ids import uuid7
from omnia.core.scope import Scope, Tier
from omnia.db import execute, fetch_dicts, load_sql

Row = dict[str, Any]
"""The columns of a memory object."""

_INSERT = load_sql("memories", "insert_memory").format(returning=RETURNING)
_REPLACE = load_sql("memories", "replace_wording").format(live=LIVE, returning=RETURNING)
_WORDING = ", ".join(f"m.{field.name}" for field in fields(Wording))


@dataclass(frozen=True, slots=True)
class Change:
    """Why a wording gives way, and who says so.

    `said_again` makes the memory as fresh as `now`; `reinforced` counts it as evidence; `keeps_vector` says that
    the text the vector stands for is the same. `wording_id` is the id the old wording gets in the history.
    """

    reason: str
    actor: str
    now: datetime
    said_again: bool = False
    reinforced: bool = False
    keeps_vector: bool = False
    wording_id: UUID = field(default_factory=uuid7)


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
) -> Row:
    """Stores a new memory and answers its row. `embeds` says that a missing vector should follow later."""
    known = PROVENANCE[provenance]
    parameters = (
        _wording_parameters(wording)
        | _vector_parameters(vector, embeds=embeds, now=now)
        | scope_parameters(scope, now=now)
        | {
            "id": uuid7(),
            "tier": scope.tier.code,
            "container": container,
            "entity": entity,
            "evidence_class": known.evidence_class,
            "source_type": known.source_type,
        }
    )
    [row] = fetch_dicts(_INSERT, parameters)
    return row


def replace(memory: UUID, wording: Wording, *, vector: ModelVector | None, embeds: bool, change: Change) -> Row | None:
    """Gives a live memory a newer wording, keeps the old one and answers its row; None when it is no longer live."""
    parameters = (
        _wording_parameters(wording)
        | _vector_parameters(vector, embeds=embeds, now=change.now)
        | {field.name: getattr(change, field.name) for field in fields(Change)}
        | {"id": memory}
    )
    rows = fetch_dicts(_REPLACE, parameters)
    return rows[0] if rows else None


def wording_of(memory: UUID) -> Wording:
    """What a memory says now; its row stays locked until the transaction ends."""
    [row] = fetch_dicts(f"SELECT {_WORDING} FROM memories_memory m WHERE m.id = %(id)s FOR UPDATE", {"id": memory})
    return Wording.of_row(row)


def sources(ids: Sequence[UUID], *, scope: Scope, now: datetime) -> list[Row]:
    """What the live memories among `ids` say, in this exact scope; locked in the order of their ids."""
    return fetch_dicts(
        f"SELECT m.id, m.entity_id, {_WORDING} FROM memories_memory m"
        f" WHERE m.id = ANY(%(ids)s) AND {exactly(scope)} AND {LIVE} ORDER BY m.id FOR UPDATE",
        scope_parameters(scope, now=now) | {"ids": list(ids)},
    )


def wordings(memory: UUID) -> list[dict[str, Any]]:
    """The earlier wordings, newest first."""
    return fetch_dicts(
        "SELECT type, content, title, summary, confidence, said_at, replaced_at, reason, actor"
        " FROM memories_wording WHERE memory_id = %(id)s ORDER BY replaced_at DESC, id DESC",
        {"id": memory},
    )


def read(memory: UUID, *, where: Where) -> Row | None:
    """The columns of a memory object, if the row lies within `where`."""
    sql = f"SELECT {SELECT} FROM {FROM} WHERE m.id = %(id)s AND {where.sql}"
    rows = fetch_dicts(sql, where.parameters | {"id": memory})
    return rows[0] if rows else None


def live_tier(memory: UUID, *, workspace: UUID, now: datetime) -> Tier | None:
    """The tier of a live memory of the workspace, whoever owns it; None when there is none."""
    sql = f"SELECT m.tier FROM memories_memory m WHERE m.id = %(id)s AND m.workspace_id = %(workspace)s AND {LIVE}"
    rows = fetch_dicts(sql, {"id": memory, "workspace": workspace, "now": now})
    return Tier.from_code(rows[0]["tier"]) if rows else None


def _wording_parameters(wording: Wording) -> dict[str, Any]:
    turns = wording.turn_range
    return {field.name: getattr(wording, field.name) for field in fields(Wording)} | {
        "metadata": orjson.dumps(dict(wording.metadata)).decode(),
        "category": wording.consent_category,
        "turn_range": list(turns) if turns else None,
    }


def _vector_parameters(vector: ModelVector | None, *, embeds: bool, now: datetime) -> dict[str, Any]:
    lacks_one = vector is None or not vector.complete
    return column_parameters(vector) | {"embed_after": now if embeds and lacks_one else None}


def of_session(session: str, *, workspace: UUID) -> list[UUID]:
    """Every memory of the workspace, live or not, that was saved in this session."""
    sql = "SELECT id FROM memories_memory WHERE workspace_id = %(workspace)s AND session_id = %(session)s"
    return [row["id"] for row in fetch_dicts(sql, {"workspace": workspace, "session": session})]


_COUNT = """
WITH held AS (
    SELECT id FROM memories_memory WHERE id = ANY(%(ids)s::uuid[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE memories_memory m SET access_count = m.access_count + noted.count, accessed_at = greatest(m.accessed_at, noted.at)
FROM held, unnest(%(ids)s::uuid[], %(counts)s::int[], %(times)s::timestamptz[]) AS noted (id, count, at)
WHERE m.id = held.id AND noted.id = held.id
"""
"""No indexed column changes, so that the indexes are left alone. Rows that are gone or held are passed over."""


def count_accesses(noted: Mapping[UUID, tuple[int, datetime]]) -> int:
    """Adds to how often these memories were read, and says when last; how many were there and free."""
    counts, times = zip(*noted.values(), strict=True)
    return execute(_COUNT, {"ids": list(noted), "counts": list(counts), "times": list(times)})
