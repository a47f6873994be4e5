"""The pairs that contradict each other: noted as they are met, listed while both texts stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.store.scope_sql import LIVE, Where
from omnia.core.ids import uuid7
from omnia.db import execute, fetch_dicts

_NOTE = """
INSERT INTO memories_conflict (id, memory_id, wording_id, other_id, kinds, found_at)
VALUES (%(id)s, %(memory)s, %(wording)s, %(other)s, %(kinds)s::varchar[], %(now)s)
"""
_PAIRS = f"""
FROM memories_conflict c
JOIN memories_memory m ON m.id = c.memory_id
LEFT JOIN memories_wording w ON w.id = c.wording_id
LEFT JOIN memories_memory o ON o.id = c.other_id
    AND (o.workspace_id, o.tier) = (m.workspace_id, m.tier)
    AND o.user_id IS NOT DISTINCT FROM m.user_id AND o.agent_id IS NOT DISTINCT FROM m.agent_id
    AND {LIVE.replace("m.", "o.")}
WHERE coalesce(w.content, o.content) <> m.content
"""
"""A pair ends when either memory is gone, has moved to another owner, or says the same as the other by now."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a page ends: the last pair's place in the order."""

    at: datetime
    id: UUID


def note(
    memory: UUID, *, kinds: Sequence[str], now: datetime, wording: UUID | None = None, other: UUID | None = None
) -> None:
    """Keeps that a memory contradicts the wording it replaced, or the other memory."""
    parameters = {"memory": memory, "wording": wording, "other": other, "kinds": list(kinds), "now": now}
    execute(_NOTE, parameters | {"id": uuid7()})


def settle(memory: UUID) -> None:
    """Drops what a memory contradicted: somebody looked and said what it should say."""
    execute("DELETE FROM memories_conflict WHERE memory_id = %(id)s OR other_id = %(id)s", {"id": memory})


def newest(where: Where, *, after: Found | None, limit: int) -> list[Mapping[str, Any]]:
    """At most `limit` pairs whose memory lies in `where`, last found first; those behind `after` when it is given."""
    page = "AND (c.found_at, c.id) < (%(after_time)s, %(after_id)s)" if after else ""
    place = {"after_time": after.at, "after_id": after.id} if after else {}
    sql = (
        "SELECT c.id, c.kinds, c.found_at, m.id AS memory_id, m.content, m.workspace_id, m.user_id, m.agent_id, m.tier,"
        f" c.other_id, coalesce(w.content, o.content) AS earlier {_PAIRS} AND {where.sql} {page}"
        " ORDER BY c.found_at DESC, c.id DESC LIMIT %(limit)s"
    )
    return [*fetch_dicts(sql, where.parameters | place | {"limit": limit})]


def count(where: Where) -> int:
    """How many pairs there are in all."""
    [row] = fetch_dicts(f"SELECT count(*) AS pairs {_PAIRS} AND {where.sql}", where.parameters)
    return int(row["pairs"])
