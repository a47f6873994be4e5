"""The statements that end a memory: into the trash, or for good with all that hangs on it."""

from __future__ import annotations

from collections.abc import Sequence
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
_BATCH = 10_000


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
    """Deletes every memory of the owner, live or not, with its edges, history and keys."""
    owned, parameters = _OWNED[scope.tier], _parameters(scope)
    rows = fetch_dicts(f"SELECT id FROM memories_memory WHERE {owned}", parameters)
    deleted = delete([row["id"] for row in rows])
    execute(f"DELETE FROM memories_entity WHERE {owned}", parameters)
    return deleted


def delete_oldest(scope: Scope, *, limit: int) -> int:
    """Deletes at most `limit` memories of the owner, the oldest first, with all that hangs on them."""
    owned, parameters = _OWNED[scope.tier], _parameters(scope)
    oldest = f"SELECT id FROM memories_memory WHERE {owned} ORDER BY id LIMIT %(limit)s"
    deleted = delete([row["id"] for row in fetch_dicts(oldest, parameters | {"limit": limit})])
    _delete_unused_keys(owned, parameters)
    return deleted


def delete_category(scope: Scope, *, category: str) -> int:
    """Deletes what a user has in a consent category, and what other memories of theirs said in it before."""
    owned, parameters = _OWNED[scope.tier], _parameters(scope) | {"category": category}
    rows = fetch_dicts(f"SELECT id FROM memories_memory WHERE {owned} AND consent_category = %(category)s", parameters)
    deleted = delete([row["id"] for row in rows])
    execute(
        "DELETE FROM memories_wording w WHERE w.consent_category = %(category)s"
        f" AND w.memory_id IN (SELECT id FROM memories_memory WHERE {owned})",
        parameters,
    )
    _delete_unused_keys(owned, parameters)
    return deleted


def delete(memories: Sequence[UUID]) -> int:
    """Deletes memories of an owner the caller has locked, with all that hangs on them; how many there were."""
    return sum(_delete(memories[start : start + _BATCH]) for start in range(0, len(memories), _BATCH))


def _delete_unused_keys(owned: str, parameters: dict[str, Any]) -> None:
    execute(
        f"DELETE FROM memories_entity e WHERE {owned}"
        " AND NOT EXISTS (SELECT FROM memories_memory m WHERE m.entity_id = e.id)",
        parameters,
    )


def _parameters(scope: Scope) -> dict[str, Any]:
    return {"workspace": scope.workspace, "user": scope.user, "agent": scope.agent}


def _delete(memories: Sequence[UUID]) -> int:
    """One statement a table, by index whatever the tables' statistics say: a join may scan a table for each row."""
    ids = {"ids": list(memories)}
    for sql in (
        # In one order, so that two owners who share edges wait for each other; the deletion itself takes what is made since.
        "DELETE FROM memories_edge WHERE id IN (SELECT e.id FROM memories_edge e"
        " WHERE e.source_id = ANY(%(ids)s::uuid[]) OR e.target_id = ANY(%(ids)s::uuid[]) ORDER BY e.id FOR UPDATE)",
        "DELETE FROM memories_wording WHERE memory_id = ANY(%(ids)s::uuid[])",
        "UPDATE memories_memory SET superseded_by_id = NULL WHERE superseded_by_id = ANY(%(ids)s::uuid[])",
    ):
        execute(sql, ids)
    return execute("DELETE FROM memories_memory WHERE id = ANY(%(ids)s::uuid[])", ids)
