"""The change to another embedding model, and the vectors made for it before it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from pgvector import HalfVector

from memories.domain.embedding_text import embedding_text
from omnia.core.ids import uuid7
from omnia.db import execute, fetch_dicts

_SAID = "md5(coalesce(m.title, '') || E'\\x01' || m.content)"
_LIVE = "(m.expires_at IS NULL OR m.expires_at > statement_timestamp()) AND m.retired_at IS NULL"


@dataclass(frozen=True, slots=True)
class Awaiting:
    """A memory without a vector of the next model."""

    id: UUID
    text: str
    said: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """Live memories, and those that have the next vector."""

    total: int
    done: int


def latest() -> list[dict[str, Any]]:
    """The running change and the last completed one, as far as there are."""
    sql = (
        "SELECT DISTINCT ON (status) *, statement_timestamp() - requested_at AS age FROM memories_embedding_change"
        " WHERE status <> 'cancelled' ORDER BY status, requested_at DESC"
    )
    return fetch_dicts(sql, {})


def order(*, model: str, dimensions: int, replaces_model: str, replaces_dimensions: int, by: str) -> UUID:
    """Writes a new running change down; the caller has looked that none runs."""
    sql = """
    INSERT INTO memories_embedding_change
        (id, model, dimensions, replaces_model, replaces_dimensions, status, requested_by)
    VALUES (%(id)s, %(model)s, %(dimensions)s, %(replaces_model)s, %(replaces_dimensions)s, 'running', %(by)s)
    """
    change = uuid7()
    execute(
        sql,
        {
            "id": change,
            "model": model,
            "dimensions": dimensions,
            "replaces_model": replaces_model,
            "replaces_dimensions": replaces_dimensions,
            "by": by[:200],
        },
    )
    return change


def end(change: UUID, *, status: str) -> bool:
    sql = (
        "UPDATE memories_embedding_change SET status = %(status)s, ended_at = statement_timestamp()"
        " WHERE id = %(id)s AND status = 'running'"
    )
    return bool(execute(sql, {"id": change, "status": status}))


def awaiting(*, after: UUID, limit: int) -> list[Awaiting]:
    """Live memories behind `after`, in the order of their ids, that have no next vector of what they say now."""
    sql = f"""
    SELECT m.id, m.title, m.content, {_SAID} AS said FROM memories_memory m
    WHERE m.id > %(after)s AND {_LIVE} AND NOT EXISTS (
        SELECT FROM memories_next_vector n WHERE n.memory_id = m.id AND n.said = {_SAID})
    ORDER BY m.id LIMIT %(limit)s
    """
    rows = fetch_dicts(sql, {"after": after, "limit": limit})
    return [Awaiting(row["id"], embedding_text(row["title"], row["content"]), row["said"]) for row in rows]


def keep(rows: Sequence[Awaiting], vectors: Sequence[HalfVector | None]) -> None:
    """Keeps the next vectors of these rows; a row deleted meanwhile is passed over."""
    sql = """
    INSERT INTO memories_next_vector (memory_id, embedding, said)
    SELECT id, %(vector)s::halfvec, %(said)s FROM memories_memory WHERE id = %(id)s FOR KEY SHARE
    ON CONFLICT (memory_id) DO UPDATE SET embedding = excluded.embedding, said = excluded.said
    """
    for row, vector in zip(rows, vectors, strict=True):
        execute(sql, {"id": row.id, "vector": vector, "said": row.said})


def coverage() -> Coverage:
    sql = f"""
    SELECT count(*) AS total, count(n.memory_id) AS done FROM memories_memory m
    LEFT JOIN memories_next_vector n ON n.memory_id = m.id AND n.said = {_SAID} WHERE {_LIVE}
    """
    [row] = fetch_dicts(sql, {})
    return Coverage(row["total"], row["done"])


def by_workspace(*, model: int | None) -> list[dict[str, Any]]:
    """For each workspace its live memories, and how many of them have a vector of the model."""
    sql = f"""
    SELECT m.workspace_id, count(*) AS total, count(*) FILTER (WHERE m.embedding_model_id = %(model)s::smallint) AS done
    FROM memories_memory m WHERE {_LIVE} GROUP BY m.workspace_id
    """
    return fetch_dicts(sql, {"model": model})


def switch(*, model: int) -> None:
    """Gives every memory its next vector at once; what has none yet is put in the queue. In one transaction.

    Writers wait meanwhile; readers see all of it or none.
    """
    execute("LOCK TABLE memories_memory IN SHARE ROW EXCLUSIVE MODE", {})
    execute(
        f"""
        UPDATE memories_memory m SET embedding = n.embedding, embed_after = NULL, embed_attempts = 0,
            embedding_model_id = CASE WHEN n.embedding IS NULL THEN NULL ELSE %(model)s::smallint END
        FROM memories_next_vector n WHERE n.memory_id = m.id AND n.said = {_SAID}
        """,
        {"model": model},
    )
    execute(_REQUEUE_ALL, {"model": model})
    execute("DELETE FROM memories_next_vector", {})


_REQUEUE_ALL = """
UPDATE memories_memory m SET embedding = NULL, embedding_model_id = NULL, embed_after = statement_timestamp(), embed_attempts = 0
WHERE m.embedding IS NOT NULL AND m.embedding_model_id <> %(model)s::smallint
"""
_REQUEUE = f"""
{_REQUEUE_ALL} AND m.id IN (
    SELECT id FROM memories_memory WHERE embedding IS NOT NULL AND embedding_model_id <> %(model)s::smallint
    LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
"""


def requeue(*, model: int, limit: int) -> int:
    """Puts memories with a vector of any other model in the queue of the sweep; how many."""
    return execute(_REQUEUE, {"model": model, "limit": limit})


def retry_given_up() -> int:
    """Puts live memories whose text was given up in the queue again; how many."""
    sql = (
        "UPDATE memories_memory m SET embed_after = statement_timestamp(), embed_attempts = 0"
        f" WHERE m.embedding IS NULL AND m.embed_after IS NULL AND m.embed_attempts > 0 AND {_LIVE}"
    )
    return execute(sql, {})


def forget_next() -> None:
    execute("DELETE FROM memories_next_vector", {})


def ended_lately(within: timedelta) -> bool:
    sql = (
        "SELECT 1 FROM memories_embedding_change"
        " WHERE status = 'completed' AND ended_at > statement_timestamp() - %(within)s::interval LIMIT 1"
    )
    return bool(fetch_dicts(sql, {"within": within}))


def ensure_index(dimensions: int) -> None:
    """The approximate index of the shared tiers for vectors of this length; beside the writers where possible."""
    name = f"memory_shared_vector_{int(dimensions)}"
    beside = "" if connection.in_atomic_block else "CONCURRENTLY "
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE INDEX {beside}IF NOT EXISTS {name} ON memories_memory"
            f" USING hnsw ((embedding::halfvec({int(dimensions)})) halfvec_cosine_ops)"
            f" WHERE tier <= 1 AND vector_dims(embedding) = {int(dimensions)}"
        )
