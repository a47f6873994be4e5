"""The statements that end a memory: into the trash, or for good with all that hangs on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.domain.reach import Reach
from memories.store.rows import FROM, RETURNING, SELECT
from memories.store.scope_sql import Where, in_scope
from omnia.api import idempotency
from omnia.core.scope import Scope, Tier
from omnia.db import execute, fetch_dicts

_OWNED = {
    Tier.USER: "workspace_id = %(workspace)s AND user_id = %(user)s",
    Tier.USER_FOR_AGENT: "workspace_id = %(workspace)s AND user_id = %(user)s AND agent_id = %(agent)s",
    Tier.AGENT: "workspace_id = %(workspace)s AND user_id IS NULL AND agent_id = %(agent)s",
}
"""All rows of an owner: a user's include those for each agent."""
_BATCH = 10_000

Removed = Counter[tuple[UUID, Tier]]
"""How many memories were deleted, by workspace and tier."""


def retire(memory: UUID, *, reach: Reach, now: datetime) -> bool:
    """Moves a live memory of `reach` into the trash; False when there is none."""
    where = in_scope(reach, now=now)
    sql = (
        "UPDATE memories_memory m SET retired_at = %(now)s, retired_as = 'forgotten', updated_at = %(now)s"
        f" WHERE m.id = %(id)s AND {where.sql}"
    )
    return bool(execute(sql, where.parameters | {"id": memory}))


def find_trashed(memory: UUID, *, where: Where) -> dict[str, Any] | None:
    """The columns of a memory object of `where` with its vectors, key and time of forgetting."""
    rows = fetch_dicts(
        f"SELECT {SELECT}, m.retired_at, m.entity_id, m.embedding, m.embedding_model_id,"
        f" m.second_embedding, m.second_embedding_model_id FROM {FROM}"
        f" WHERE m.id = %(id)s AND {where.sql}",
        where.parameters | {"id": memory},
    )
    return rows[0] if rows else None


def restore(memory: UUID, *, now: datetime) -> dict[str, Any]:
    """Takes a memory out of the trash, its owner locked by the caller; the columns of its memory object."""
    [row] = fetch_dicts(
        "UPDATE memories_memory m SET retired_at = NULL, retired_as = NULL, updated_at = %(now)s"
        f" WHERE m.id = %(id)s RETURNING {RETURNING}",
        {"id": memory, "now": now},
    )
    return row


def retire_superseded(memories: Sequence[UUID], *, by: UUID, now: datetime) -> None:
    """Moves memories the caller locked out of sight, for good, because `by` says it better."""
    execute(
        "UPDATE memories_memory SET retired_at = %(now)s, retired_as = 'superseded', superseded_by_id = %(by)s,"
        " updated_at = %(now)s WHERE id = ANY(%(ids)s)",
        {"ids": list(memories), "by": by, "now": now},
    )


def delete_all(scope: Scope) -> int:
    """Deletes every memory of the owner, live or not, and their keys; how many memories there were."""
    owned, parameters = _OWNED[scope.tier], _parameters(scope)
    rows = fetch_dicts(f"SELECT id FROM memories_memory WHERE {owned}", parameters)
    deleted = delete([row["id"] for row in rows])
    execute(f"DELETE FROM memories_entity WHERE {owned}", parameters)
    return deleted.total()


def delete_oldest(scope: Scope, *, limit: int) -> int:
    """Deletes at most `limit` memories of the owner, the oldest first; how many there were."""
    sql = f"SELECT id FROM memories_memory WHERE {_OWNED[scope.tier]} ORDER BY id LIMIT %(limit)s"
    rows = fetch_dicts(sql, _parameters(scope) | {"limit": limit})
    return delete([row["id"] for row in rows]).total()


def delete_category(scope: Scope, *, category: str) -> Removed:
    """Deletes what a user has in a consent category, and what other memories of theirs said in it before."""
    owned, parameters = _OWNED[scope.tier], _parameters(scope) | {"category": category}
    rows = fetch_dicts(f"SELECT id FROM memories_memory WHERE {owned} AND consent_category = %(category)s", parameters)
    deleted = delete([row["id"] for row in rows])
    execute(
        "DELETE FROM memories_wording w WHERE w.consent_category = %(category)s"
        f" AND w.memory_id IN (SELECT id FROM memories_memory WHERE {owned})",
        parameters,
    )
    return deleted


def delete(memories: Sequence[UUID]) -> Removed:
    """The one way memories end for good: with all that hangs on them, so that nothing of their text is left.

    That is their edges, earlier wordings and conflicts; a key or document none is left of; the answers kept for an
    idempotency key that show any of them. The caller has locked the rows or their owner.
    """
    return sum((_delete(memories[start : start + _BATCH]) for start in range(0, len(memories), _BATCH)), Removed())


def with_superseded(memories: Sequence[UUID]) -> list[UUID]:
    """These and the memories they superseded, which are earlier sayings of theirs, and so on; all of them locked."""
    found = dict.fromkeys(memories)
    newest = list(found)
    while newest:
        newest = [row["id"] for row in fetch_dicts(_SUPERSEDED, {"ids": newest}) if row["id"] not in found]
        found |= dict.fromkeys(newest)
    return list(found)


_SUPERSEDED = """
SELECT id FROM memories_memory WHERE superseded_by_id = ANY(%(ids)s::uuid[]) AND retired_as = 'superseded'
ORDER BY id FOR UPDATE
"""


def _parameters(scope: Scope) -> dict[str, Any]:
    return {"workspace": scope.workspace, "user": scope.user, "agent": scope.agent}


_DELETE = """
WITH gone AS (
    DELETE FROM memories_memory WHERE id = ANY(%(ids)s::uuid[]) RETURNING workspace_id, tier, entity_id, document_id
)
SELECT workspace_id, tier, count(*) AS rows,
    coalesce(array_agg(DISTINCT entity_id) FILTER (WHERE entity_id IS NOT NULL), '{}') AS entities,
    coalesce(array_agg(DISTINCT document_id) FILTER (WHERE document_id IS NOT NULL), '{}') AS documents
FROM gone GROUP BY workspace_id, tier
"""


def _delete(memories: Sequence[UUID]) -> Removed:
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
    gone = fetch_dicts(_DELETE, ids)
    _delete_unused("memories_entity", "entity_id", [each for row in gone for each in row["entities"]])
    _delete_unused("memories_document", "document_id", [each for row in gone for each in row["documents"]])
    idempotency.drop_answers_with(memories)
    return Removed({(row["workspace_id"], Tier.from_code(row["tier"])): row["rows"] for row in gone})


def _delete_unused(table: str, column: str, rows: Sequence[UUID]) -> None:
    """Deletes those of the rows no memory names any more. One that is locked is being named again: it stays.

    Looks after locking, in a statement of its own, which sees what was written until then.
    """
    lock = f"SELECT id FROM {table} WHERE id = ANY(%(ids)s::uuid[]) FOR UPDATE SKIP LOCKED"
    locked = [row["id"] for row in fetch_dicts(lock, {"ids": list(rows)})] if rows else []
    if locked:
        unused = f"NOT EXISTS (SELECT FROM memories_memory m WHERE m.{column} = t.id)"
        execute(f"DELETE FROM {table} t WHERE t.id = ANY(%(ids)s::uuid[]) AND {unused}", {"ids": locked})
