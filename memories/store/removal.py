"""The statements that end a memory: into the trash, or for good with all that hangs on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.domain.reach import Reach
from memories.store.scope_sql import in_scope
from omnia.core.scope import Scope, Tier
from omnia.db import execute, fetch_dicts

_OWNED = {
    Tier.USER: "workspace_id = %(workspace)s AND user_id = %(user)s",
    Tier.USER_FOR_AGENT: "workspace_id = %(workspace)s AND user_id = %(user)s AND agent_id = %(agent)s",
    Tier.AGENT: "workspace_id = %(workspace)s AND user_id IS NULL AND agent_id = %(agent)s",
}
"""All rows of an owner: a user's include those for each agent."""


def retire(memory: UUID, *, reach: Reach, now: datetime) -> bool:
    """Moves a live memory of `reach` into the trash; False when there is none."""
    where = in_scope(reach, now=now)
    sql = (
        "UPDATE memories_memory m SET retired_at = %(now)s, retired_as = 'forgotten', updated_at = %(now)s"
        f" WHERE m.id = %(id)s AND {where.sql}"
    )
    return bool(execute(sql, where.parameters | {"id": memory}))


def retire_superseded(memories: Sequence[UUID], *, by: UUID, now: datetime) -> None:
    """Moves memories the caller locked out of sight, for good, because `by` says it better."""
    execute(
        "UPDATE memories_memory SET retired_at = %(now)s, retired_as = 'superseded', superseded_by_id = %(by)s,"
        " updated_at = %(now)s WHERE id = ANY(%(ids)s)",
        {"ids": list(memories), "by": by, "now": now},
    )


def delete_all(scope: Scope) -> int:
    """Deletes every memory of the owner, live or not, with its edges, history and keys: one statement a table."""
    owned, parameters = _OWNED[scope.tier], _parameters(scope)
    deleted = _delete(f"SELECT id FROM memories_memory WHERE {owned}", parameters)
    execute(f"DELETE FROM memories_entity WHERE {owned}", parameters)
    return deleted


def delete_oldest(scope: Scope, *, limit: int) -> int:
    """Deletes at most `limit` memories of the owner, the oldest first, with all that hangs on them."""
    owned, parameters = _OWNED[scope.tier], _parameters(scope)
    oldest = f"SELECT id FROM memories_memory WHERE {owned} ORDER BY id LIMIT %(limit)s"
    ids = [row["id"] for row in fetch_dicts(oldest, parameters | {"limit": limit})]
    deleted = _delete("SELECT unnest(%(ids)s::uuid[])", {"ids": ids})
    execute(
        f"DELETE FROM memories_entity e WHERE {owned}"
        " AND NOT EXISTS (SELECT FROM memories_memory m WHERE m.entity_id = e.id)",
        parameters,
    )
    return deleted


def _parameters(scope: Scope) -> dict[str, Any]:
    return {"workspace": scope.workspace, "user": scope.user, "agent": scope.agent}


def _delete(ids: str, parameters: Mapping[str, Any]) -> int:
    """Deletes the memories whose ids the query answers; how many."""
    for sql in (
        # In one order, so that two owners who share edges wait for each other; the deletion itself takes what is made since.
        f"DELETE FROM memories_edge WHERE id IN (SELECT e.id FROM memories_edge e"
        f" WHERE e.source_id IN ({ids}) OR e.target_id IN ({ids}) ORDER BY e.id FOR UPDATE)",
        f"DELETE FROM memories_wording WHERE memory_id IN ({ids})",
        f"UPDATE memories_memory SET superseded_by_id = NULL WHERE superseded_by_id IN ({ids})",
    ):
        execute(sql, parameters)
    return execute(f"DELETE FROM memories_memory WHERE id IN ({ids})", parameters)
