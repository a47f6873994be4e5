"""What maintenance deletes: the rows past their expiry, and those long enough in the trash. Each has its index."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from memories.domain.retention import Cause
from memories.store.locks import lock_free_owners
from omnia.core.scope import Scope
from omnia.db import fetch_dicts

_OVERDUE = {
    Cause.EXPIRED: ("m.expires_at", "m.expires_at IS NOT NULL"),
    Cause.PURGED: ("m.retired_at", "m.retired_as = 'forgotten'"),
}
"""When a row became due, and the rows its index holds."""

_FIRST = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a batch ends: the last row's place in the order."""

    due: datetime = datetime(1, 1, 1, tzinfo=UTC)
    id: UUID = _FIRST


def take(cause: Cause, *, by: datetime, after: Place, limit: int) -> tuple[list[UUID], Place | None]:
    """Rows due by `by` and behind `after`, locked with their owners, and where to go on; None at the end.

    An owner or a row that somebody else holds is passed over, and left for another time: nobody waits for anybody.
    """
    due, held = _OVERDUE[cause]
    rows = fetch_dicts(
        f"SELECT m.id, {due} AS due, m.workspace_id, m.user_id, m.agent_id FROM memories_memory m"
        f" WHERE {held} AND {due} <= %(by)s AND ({due}, m.id) > (%(due)s, %(after)s)"
        f" ORDER BY {due}, m.id LIMIT %(limit)s",
        {"by": by, "due": after.due, "after": after.id, "limit": limit},
    )
    if not rows:
        return [], None
    owners = {row["id"]: Scope(row["workspace_id"], row["user_id"], row["agent_id"]) for row in rows}
    free = lock_free_owners(owners.values())
    locked = fetch_dicts(
        f"SELECT m.id FROM memories_memory m WHERE m.id = ANY(%(ids)s::uuid[]) AND {held} AND {due} <= %(by)s"
        " FOR UPDATE SKIP LOCKED",
        {"ids": [memory for memory, owner in owners.items() if owner in free], "by": by},
    )
    return [row["id"] for row in locked], Place(rows[-1]["due"], rows[-1]["id"])
