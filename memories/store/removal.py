"""The statements that end a memory: into the trash, or for good with all that hangs on it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memories.domain.reach import Reach
from memories.store.scope_sql import in_scope
from omnia.core.scope import Scope, Tier
from omnia.db import execute

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


def delete_all(scope: Scope) -> int:
    """Deletes every memory of the owner, live or not, with its edges, history and keys: one statement a table."""
    owned = _OWNED[scope.tier]
    parameters = {"workspace": scope.workspace, "user": scope.user, "agent": scope.agent}
    for sql in (
        # In one order, so that two owners who share edges wait for each other; the deletion itself takes what is made since.
        f"DELETE FROM memories_edge WHERE id IN (SELECT e.id FROM memories_edge e"
        f" WHERE e.source_id IN (SELECT id FROM memories_memory WHERE {owned})"
        f" OR e.target_id IN (SELECT id FROM memories_memory WHERE {owned}) ORDER BY e.id FOR UPDATE)",
        f"DELETE FROM memories_wording WHERE memory_id IN (SELECT id FROM memories_memory WHERE {owned})",
        f"UPDATE memories_memory SET superseded_by_id = NULL"
        f" WHERE superseded_by_id IN (SELECT id FROM memories_memory WHERE {owned})",
    ):
        execute(sql, parameters)
    deleted = execute(f"DELETE FROM memories_memory WHERE {owned}", parameters)
    execute(f"DELETE FROM memories_entity WHERE {owned}", parameters)
    return deleted
