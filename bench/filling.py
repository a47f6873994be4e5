"""Putting rows into the product's own table, fast: COPY, with the search indexes built afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb

from bench.rows import Row
from omnia.core.ids import uuid7

_COLUMNS = {
    "id": "uuid", "workspace_id": "uuid", "tier": "int2", "user_id": "varchar", "agent_id": "varchar", "type": "varchar",
    "title": "text", "content": "text", "metadata": "jsonb", "evidence_class": "varchar", "source_type": "varchar",
    "mutability": "varchar", "confidence": "float8", "evidence_count": "int4", "access_count": "int4",
    "created_at": "timestamptz", "updated_at": "timestamptz", "expires_at": "timestamptz", "embedding": "halfvec",
    "embedding_model_id": "int2", "embed_attempts": "int2",
}  # fmt: skip


def fill(connection: psycopg.Connection[Any], rows: Iterable[Row], *, workspaces: Sequence[UUID], model: int) -> None:
    """Stores the rows as made by the embedding model `model`, and leaves the table vacuumed and analysed."""
    register_vector(connection)
    sql = f"COPY memories_memory ({', '.join(_COLUMNS)}) FROM STDIN (FORMAT binary)"
    with _without_search_indexes(connection), connection.cursor() as cursor, cursor.copy(sql) as copy:
        copy.set_types(list(_COLUMNS.values()))
        for row in rows:
            copy.write_row(_values(row, workspace=workspaces[row.workspace - 1], model=model))
    connection.execute("VACUUM ANALYZE memories_memory")


@contextmanager
def _without_search_indexes(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """GIN and HNSW indexes are taken away, and built again by their own definitions."""
    found = connection.execute(
        "SELECT indexname, indexdef FROM pg_indexes"
        " WHERE tablename = 'memories_memory' AND indexdef ~ 'USING (gin|hnsw)'"
    ).fetchall()
    for name, _ in found:
        connection.execute(f"DROP INDEX {name}")
    yield
    connection.execute("SET maintenance_work_mem = '1GB'")
    for _, definition in found:
        connection.execute(definition)
    connection.execute("RESET maintenance_work_mem")


def _values(row: Row, *, workspace: UUID, model: int) -> tuple[Any, ...]:
    kind = ("explicit", "user_requested") if row.explicit else ("inferred", "conversation_extraction")
    times = (row.created_at, row.created_at, row.expires_at)
    whose = (uuid7(), workspace, row.tier, row.user, row.agent)
    return (
        *whose, "fact", row.title, row.content, Jsonb({}), *kind, "mutable", 0.7, 1, 0, *times,
        HalfVector(row.vector), model, 0,
    )  # fmt: skip
