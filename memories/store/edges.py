"""Edges: the scan every walk over them is made of, and the statements that write and list one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Any
from uuid import UUID

import orjson

from memories.domain.relation import Relation
from memories.store.scope_sql import Where
from omnia.core.ids import uuid7
from omnia.core.scope import Scope
from omnia.db import execute, fetch_dicts, load_sql

SCANNED_EDGES = 1_000
"""So many of a row's own edges are looked at, the heaviest, each way and for each scope an edge of it may have."""


def outgoing(row: str) -> str:
    """The scan of the edges whose source is the row that the SQL expression `row` names."""
    return load_sql("memories", "heaviest_edges").format(near="source", far="target", row=row)


def incoming(row: str) -> str:
    """The scan of the edges whose target is `row`."""
    return load_sql("memories", "heaviest_edges").format(near="target", far="source", row=row)


def scan_parameters(scope: Scope) -> dict[str, Any]:
    """What the scans name: the users and agents an edge between rows of `scope` may carry, pair by pair."""
    pairs = list(product(dict.fromkeys(("", scope.user or "")), dict.fromkeys(("", scope.agent or ""))))
    return {
        "users": [user for user, _ in pairs],
        "agents": [agent for _, agent in pairs],
        "scanned": SCANNED_EDGES,
    }


@dataclass(frozen=True, slots=True)
class End:
    """One end of an edge, and whose it is."""

    type: str
    scope: Scope


def ends(memories: Collection[UUID], *, where: Where) -> dict[UUID, End]:
    """Those of the rows that lie within `where`; inside a transaction they cannot be deleted before it ends."""
    rows = fetch_dicts(
        "SELECT m.id, m.type, m.workspace_id, m.user_id, m.agent_id FROM memories_memory m"
        f" WHERE m.id = ANY(%(ids)s::uuid[]) AND {where.sql} ORDER BY m.id FOR KEY SHARE",
        where.parameters | {"ids": list(memories)},
    )
    return {row["id"]: End(row["type"], Scope(row["workspace_id"], row["user_id"], row["agent_id"])) for row in rows}


_PUT = """
INSERT INTO memories_edge (id, workspace_id, source_id, target_id, relation_type, weight, metadata, created_at)
VALUES (%(id)s, %(workspace)s, %(source)s, %(target)s, %(relation_type)s, %(weight)s, %(metadata)s::jsonb, %(now)s)
ON CONFLICT ON CONSTRAINT edge_once DO UPDATE SET weight = excluded.weight, metadata = excluded.metadata
RETURNING id, xmax = 0 AS made
"""


def put(relation: Relation, *, workspace: UUID, now: datetime) -> tuple[UUID, bool]:
    """The edge of a relation, made or given its newer weight and metadata; and whether it was made."""
    parameters = {
        "id": uuid7(),
        "workspace": workspace,
        "source": relation.source,
        "target": relation.target,
        "relation_type": relation.relation_type,
        "weight": relation.weight,
        "metadata": orjson.dumps(dict(relation.metadata)).decode(),
        "now": now,
    }
    [row] = fetch_dicts(_PUT, parameters)
    return row["id"], row["made"]


def find(edge: UUID, *, workspace: UUID) -> Relation | None:
    """What an edge of the workspace says. Whether its ends may be seen is the caller's to ask."""
    rows = fetch_dicts(
        "SELECT source_id AS source, target_id AS target, relation_type, weight, metadata FROM memories_edge"
        " WHERE id = %(id)s AND workspace_id = %(workspace)s",
        {"id": edge, "workspace": workspace},
    )
    return Relation(**rows[0]) if rows else None


def remove(edge: UUID) -> bool:
    """Deletes an edge; False when it was gone already."""
    return bool(execute("DELETE FROM memories_edge WHERE id = %(id)s", {"id": edge}))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page of edges ends: the last one's place in the order."""

    weight: float
    id: UUID


_AT = """
memories_edge e JOIN memories_memory m ON m.id = CASE e.source_id WHEN %(memory)s::uuid THEN e.target_id ELSE e.source_id END
WHERE (e.source_id = %(memory)s::uuid OR e.target_id = %(memory)s::uuid)
    AND coalesce(e.user_id, '') = ANY(%(users)s::text[]) AND coalesce(e.agent_id, '') = ANY(%(agents)s::text[])
"""


def at(
    memory: UUID, *, where: Where, scope: Scope, after: Place | None, offset: int, limit: int
) -> list[dict[str, Any]]:
    """At most `limit` edges of a row to rows within `where`, heaviest first; those behind `after` when it is given."""
    page = "AND (e.weight, e.id) < (%(weight)s::float8, %(after)s::uuid)" if after else ""
    place = {"weight": after.weight, "after": after.id} if after else {}
    return fetch_dicts(
        f"SELECT e.id, e.source_id, e.target_id, e.relation_type, e.weight, e.metadata, e.created_at FROM {_AT}"
        f" AND {where.sql} {page} ORDER BY e.weight DESC, e.id DESC LIMIT %(limit)s OFFSET %(offset)s",
        where.parameters | scan_parameters(scope) | place | {"memory": memory, "limit": limit, "offset": offset},
    )


def count_at(memory: UUID, *, where: Where, scope: Scope) -> int:
    """How many edges of a row lead to rows within `where`."""
    sql = f"SELECT count(*) AS edges FROM {_AT} AND {where.sql}"
    [row] = fetch_dicts(sql, where.parameters | scan_parameters(scope) | {"memory": memory})
    return int(row["edges"])
