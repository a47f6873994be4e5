"""Browse: the rows of one scope, newest first or best match first (design: Lists, Reading a scope)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.domain.query_text import require_query
from memories.domain.reach import Filters, Reach
from memories.recall.search import search
from memories.services import vectors
from memories.services.related import related_to
from memories.services.weights import weights
from memories.store import listing
from memories.store.rows import memory_object, memory_objects, previewed
from omnia.api.pagination import decode_cursor, encode_cursor
from policies.domain.effective import EffectivePolicy

__all__ = ["Filters", "Page", "Reach", "list_memories", "search_memories"]


@dataclass(frozen=True, slots=True)
class Page:
    """Rows in the wire form, how many there are in all, and where the next page begins."""

    memories: list[dict[str, Any]]
    total: int
    next: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"memories": self.memories, "total": self.total, "next": self.next}


def list_memories(
    reach: Reach, *, filters: Filters, limit: int, cursor: str | None, offset: int, now: datetime
) -> Page:
    """The live rows, newest first. Raises BadInput `invalid_cursor` for a cursor that is not ours."""
    after = _place(cursor) if cursor else None
    where = listing.readable(reach, filters=filters, now=now)
    rows = listing.newest(where, after=after, offset=offset, limit=limit + 1)
    shown, more = rows[:limit], len(rows) > limit
    return Page(memory_objects(shown), listing.count(where), _cursor(shown[-1]) if more else None)


def search_memories(
    reach: Reach,
    *,
    query: str,
    filters: Filters,
    limit: int,
    offset: int,
    preview: bool,
    policy: EffectivePolicy,
    now: datetime,
) -> Page:
    """The live rows that hold a word of `query` or mean something near it, best match first."""
    text = require_query(query, pointer="/q")
    found = search(
        listing.readable(reach, filters=filters, now=now),
        query=text,
        vector=vectors.for_query(text),
        weights=weights(policy),
        limit=limit,
        offset=offset,
    )
    memories = [memory_object(row) | {"score": row["score"]} for row in found.rows]
    if preview:
        links = related_to(found.rows, scope=reach.scope, policy=policy, now=now)
        for memory, row in zip(memories, found.rows, strict=True):
            memory |= {"access_count": row["access_count"], "source": "direct", "related": links.get(row["id"], [])}
            previewed(memory, threshold_bytes=policy.recall.inline_threshold_bytes)
    return Page(memories, found.total)


_PURPOSE = "memories"


def _cursor(row: dict[str, Any]) -> str:
    return encode_cursor([row["updated_at"].isoformat(), row["id"].hex], purpose=_PURPOSE)


def _place(cursor: str) -> listing.Place:
    updated_at, memory = decode_cursor(cursor, purpose=_PURPOSE)
    return listing.Place(datetime.fromisoformat(str(updated_at)), UUID(str(memory)))
