"""Conflicts: what the store was told twice and differently, for somebody to look at (design: /memories/conflicts)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.domain.conflict import as_json
from memories.store import conflicts
from memories.store.rows import scope_object
from memories.store.scope_sql import of_owner
from omnia.api.pagination import decode_cursor, encode_cursor
from omnia.core.scope import Scope

_PURPOSE = "conflicts"


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Pairs in the wire form, how many there are in all, and where the next page begins."""

    pairs: list[dict[str, Any]]
    total: int
    next: str | None

    def as_json(self) -> dict[str, Any]:
        return {"conflicts": self.pairs, "total": self.total, "next": self.next}


def list_conflicts(scope: Scope, *, limit: int, cursor: str | None, now: datetime) -> Conflicts:
    """The pairs among an owner's live memories, last found first; without a user those of the shared tiers.

    Raises BadInput `invalid_cursor` for a cursor that is not ours.
    """
    where = of_owner(scope, now=now)
    rows = conflicts.newest(where, after=_place(cursor) if cursor else None, limit=limit + 1)
    shown, more = rows[:limit], len(rows) > limit
    return Conflicts([_pair(row) for row in shown], conflicts.count(where), _cursor(shown[-1]) if more else None)


def _pair(row: Mapping[str, Any]) -> dict[str, Any]:
    """The memory as it is now beside what it contradicts: its own earlier wording, or the other memory's text."""
    pair = {
        "id": row["id"],
        "memory_id": row["memory_id"],
        **as_json(row["kinds"]),
        "content": row["content"],
        "earlier_content": row["earlier"],
        "scope": scope_object(row),
        "found_at": row["found_at"],
    }
    return pair if row["other_id"] is None else pair | {"other_memory_id": row["other_id"]}


def _cursor(row: Mapping[str, Any]) -> str:
    return encode_cursor([row["found_at"].isoformat(), row["id"].hex], purpose=_PURPOSE)


def _place(cursor: str) -> conflicts.Found:
    found_at, pair = decode_cursor(cursor, purpose=_PURPOSE)
    return conflicts.Found(datetime.fromisoformat(str(found_at)), UUID(str(pair)))
