"""The statements of a list: the newest rows of a reach, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.domain.reach import Filters, Reach
from memories.store.rows import FROM, SELECT
from memories.store.scope_sql import Where, in_scope, narrowed_by
from omnia.db import fetch_dicts


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ends: the last row's place in the order."""

    updated_at: datetime
    id: UUID


def readable(reach: Reach, *, filters: Filters, now: datetime) -> Where:
    """The live rows of a reach that pass the filters. The scope stands outside the filters' parentheses."""
    scope, narrowed = in_scope(reach, now=now), narrowed_by(filters)
    return Where(f"{scope.sql} AND ({narrowed.sql})", scope.parameters | narrowed.parameters)


def newest(where: Where, *, after: Place | None, offset: int, limit: int) -> list[dict[str, Any]]:
    """At most `limit` rows, last changed first; those behind `after` when it is given."""
    page = "AND (m.updated_at, m.id) < (%(after_time)s, %(after_id)s)" if after else ""
    sql = (
        f"SELECT {SELECT} FROM {FROM} WHERE {where.sql} {page}"
        " ORDER BY m.updated_at DESC, m.id DESC LIMIT %(limit)s OFFSET %(offset)s"
    )
    place = {"after_time": after.updated_at, "after_id": after.id} if after else {}
    return fetch_dicts(sql, where.parameters | place | {"limit": limit, "offset": offset})


def count(where: Where) -> int:
    """How many rows the store holds in `where`."""
    [row] = fetch_dicts(f"SELECT count(*) AS rows FROM memories_memory m WHERE {where.sql}", where.parameters)
    return int(row["rows"])
