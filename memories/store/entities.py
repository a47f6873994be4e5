"""What memories are about: the row of a structured key, and the live memory kept under it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memories.domain.about import About
from memories.store.scope_sql import LIVE, UNRETIRED
from omnia.core.ids import uuid7
from omnia.core.scope import Scope
from omnia.db import execute, fetch_dicts

_ENSURE = """
INSERT INTO memories_entity (id, workspace_id, user_id, agent_id, kind, key)
VALUES (%(id)s, %(workspace)s, %(user)s, %(agent)s, %(kind)s, %(key)s)
ON CONFLICT ON CONSTRAINT entity_unique_in_scope DO UPDATE SET kind = excluded.kind
RETURNING id
"""
_KEPT = f"""
SELECT m.id, ({LIVE}) AS live FROM memories_memory m
WHERE m.entity_id = %(entity)s AND {UNRETIRED} FOR UPDATE
"""


def ensure(about: About, *, scope: Scope) -> UUID:
    """The id of the entity, made when it is new. Concurrent makers get the same one."""
    parameters = {
        "id": uuid7(),
        "workspace": scope.workspace,
        "user": scope.user,
        "agent": scope.agent,
        "kind": about.kind,
        "key": about.key,
    }
    [row] = fetch_dicts(_ENSURE, parameters)
    return row["id"]  # type: ignore[no-any-return]


def live_memory(entity: UUID, *, now: datetime) -> UUID | None:
    """The live memory about `entity`, locked.

    One that expired and was not yet swept makes room at once: a key never revives what has expired.
    """
    rows = fetch_dicts(_KEPT, {"entity": entity, "now": now})
    for row in rows:
        if not row["live"]:
            execute("UPDATE memories_memory SET entity_id = NULL WHERE id = %(id)s", {"id": row["id"]})
    return next((row["id"] for row in rows if row["live"]), None)
