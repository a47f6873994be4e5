"""The erasures of persons, and where a person's id stands in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from memories.store import removal
from omnia.core.ids import uuid7
from omnia.db import execute, fetch_dicts


@dataclass(frozen=True, slots=True)
class Place:
    """A table with persons' ids in it: the column they stand in, and since when a row is there."""

    table: str
    column: str
    since: str
    workspace: str = "workspace_id"
    besides: str = ""
    """What else must hold, so that a row a person made later keeps what it stands on."""


MEMORIES = Place("memories_memory", "user_id", "created_at")
KEYS = Place(
    "memories_entity", "user_id", "created_at",
    besides=" AND NOT EXISTS (SELECT FROM memories_memory m WHERE m.entity_id = memories_entity.id)",
)  # fmt: skip
RELATIONS = Place("memories_edge", "user_id", "created_at")
REVOCATIONS = Place("memories_revocation", "user_id", "revoked_at")
PLACES = (MEMORIES, KEYS, RELATIONS, REVOCATIONS)
REWRITTEN = (*(place.table for place in PLACES), "memories_wording", "memories_conflict", "memories_erasure",
             "omnia_idempotency", "omnia_api_token")  # fmt: skip
"""The tables whose files and statistics may still hold what was deleted from them."""


@dataclass(frozen=True, slots=True)
class Whose:
    """The person, where, and up to when; None: everywhere, and always."""

    subject: str
    workspace: UUID | None
    before: datetime | None

    def of(self, place: Place) -> str:
        """The condition on the rows of a place that are this person's."""
        return (
            f"{place.column} = %(subject)s"
            f" AND (%(workspace)s::uuid IS NULL OR {place.workspace} = %(workspace)s)"
            f" AND (%(before)s::timestamptz IS NULL OR {place.since} <= %(before)s){place.besides}"
        )

    def parameters(self) -> dict[str, Any]:
        return {"subject": self.subject, "workspace": self.workspace, "before": self.before}


def order(whose: Whose, *, subject_hash: str, requested_by: str) -> UUID:
    """Writes the order down, and answers its id; one that already runs for the same person and place is joined."""
    sql = """
    INSERT INTO memories_erasure (id, workspace_id, subject, subject_hash, before, status, removed, requested_by)
    VALUES (%(id)s, %(workspace)s, %(subject)s, %(hash)s, %(before)s, 'running', '{}', %(by)s)
    ON CONFLICT (subject_hash, workspace_id) WHERE status = 'running'
        DO UPDATE SET requested_at = memories_erasure.requested_at,
            before = CASE WHEN excluded.before IS NULL THEN NULL ELSE greatest(memories_erasure.before, excluded.before) END
    RETURNING id
    """
    values = {**whose.parameters(), "id": uuid7(), "hash": subject_hash, "by": requested_by[:200]}
    [row] = fetch_dicts(sql, values)
    return row["id"]  # type: ignore[no-any-return]


def unfinished() -> list[UUID]:
    rows = fetch_dicts("SELECT id FROM memories_erasure WHERE status <> 'completed' ORDER BY requested_at", {})
    return [row["id"] for row in rows]


def read(erasure: UUID) -> dict[str, Any] | None:
    rows = fetch_dicts("SELECT * FROM memories_erasure WHERE id = %(id)s", {"id": erasure})
    return rows[0] if rows else None


def claim(erasure: UUID, *, status: str) -> dict[str, Any] | None:
    """The erasure locked for this transaction; None when another works on it or it is not in this state."""
    sql = (
        "SELECT *, statement_timestamp() - requested_at AS age FROM memories_erasure"
        " WHERE id = %(id)s AND status = %(status)s FOR UPDATE SKIP LOCKED"
    )
    rows = fetch_dicts(sql, {"id": erasure, "status": status})
    return rows[0] if rows else None


def add_removed(erasure: UUID, counts: Mapping[str, int]) -> None:
    """Adds to the certificate's counts, in the transaction that deletes what they count."""
    sql = """
    UPDATE memories_erasure SET removed = removed || (
        SELECT jsonb_object_agg(key, value::int + coalesce((removed->>key)::int, 0)) FROM jsonb_each_text(%(counts)s::jsonb)
    ) WHERE id = %(id)s
    """
    removal_counts = {name: count for name, count in counts.items() if count}
    if removal_counts:
        execute(sql, {"id": erasure, "counts": _json(removal_counts)})


def set_erased(erasure: UUID) -> None:
    """The person is named no longer."""
    execute(
        "UPDATE memories_erasure SET status = 'erased', subject = NULL, erased_at = statement_timestamp()"
        " WHERE id = %(id)s",
        {"id": erasure},
    )


def set_completed(erasure: UUID) -> bool:
    sql = (
        "UPDATE memories_erasure SET status = 'completed', completed_at = statement_timestamp()"
        " WHERE id = %(id)s AND status = 'erased'"
    )
    return bool(execute(sql, {"id": erasure}))


def some_memories(whose: Whose, *, limit: int) -> tuple[UUID | None, list[UUID]]:
    """Up to `limit` of the person's memories in one workspace, and which workspace."""
    sql = f"""
    SELECT id, workspace_id FROM memories_memory WHERE {whose.of(MEMORIES)}
    ORDER BY workspace_id LIMIT %(limit)s
    """
    rows = fetch_dicts(sql, whose.parameters() | {"limit": limit})
    workspace = rows[0]["workspace_id"] if rows else None
    return workspace, [row["id"] for row in rows if row["workspace_id"] == workspace]


def delete_memories(memories: Sequence[UUID]) -> dict[str, int]:
    """Deletes these with all that hangs on them, and counts it."""
    sql = """
    SELECT (SELECT count(embedding) + count(second_embedding) FROM memories_memory WHERE id = ANY(%(ids)s::uuid[]))
            AS vectors,
        (SELECT count(*) FROM memories_wording WHERE memory_id = ANY(%(ids)s::uuid[])) AS earlier_wordings,
        (SELECT count(*) FROM memories_edge
            WHERE source_id = ANY(%(ids)s::uuid[]) OR target_id = ANY(%(ids)s::uuid[])) AS relations,
        (SELECT count(DISTINCT m.entity_id) FROM memories_memory m WHERE m.id = ANY(%(ids)s::uuid[]) AND NOT EXISTS (
            SELECT FROM memories_memory o WHERE o.entity_id = m.entity_id AND o.id <> ALL(%(ids)s::uuid[]))) AS keys,
        (SELECT count(*) FROM omnia_idempotency WHERE ids && %(ids)s::uuid[]) AS kept_answers
    """
    [counts] = fetch_dicts(sql, {"ids": list(memories)})
    return {**counts, "memories": removal.delete(memories).total()}


def delete_rest(whose: Whose) -> dict[str, int]:
    """Deletes what stands under the person's id besides their memories."""
    names = {"relations": RELATIONS, "keys": KEYS, "revocations": REVOCATIONS}
    return {
        name: execute(f"DELETE FROM {place.table} WHERE {whose.of(place)}", whose.parameters())
        for name, place in names.items()
    }


def left(whose: Whose) -> int:
    """How many rows are still the person's; the scan that a certificate rests on."""
    counts = " + ".join(f"(SELECT count(*) FROM {place.table} WHERE {whose.of(place)})" for place in PLACES)
    [row] = fetch_dicts(f"SELECT {counts} AS rows", whose.parameters())
    return int(row["rows"])


def persons() -> list[tuple[UUID, str]]:
    """Everybody who has something here, by workspace."""
    everybody = " UNION ".join(
        f"SELECT {place.workspace} AS workspace, {place.column} AS person FROM {place.table}"
        f" WHERE {place.column} IS NOT NULL"
        for place in PLACES
    )
    return [(row["workspace"], row["person"]) for row in fetch_dicts(everybody, {})]


def suppressions() -> list[dict[str, Any]]:
    """Whom not to bring back: keyed hashes of the persons erased, where, and up to when."""
    sql = (
        "SELECT subject_hash, workspace_id, coalesce(before, erased_at) AS erased_at FROM memories_erasure"
        " WHERE status <> 'running' ORDER BY id"
    )
    return fetch_dicts(sql, {})


def note_suppression(subject_hash: str, *, workspace: UUID | None, erased_at: datetime, by: str) -> None:
    """Takes one of another database's erasures over, once."""
    sql = """
    INSERT INTO memories_erasure
        (id, workspace_id, subject_hash, before, status, removed, requested_by, erased_at, completed_at)
    SELECT %(id)s, %(workspace)s::uuid, %(hash)s::varchar, %(at)s::timestamptz, 'completed', '{}', %(by)s, %(at)s, %(at)s
    WHERE NOT EXISTS (SELECT FROM memories_erasure WHERE subject_hash = %(hash)s AND status <> 'running'
        AND workspace_id IS NOT DISTINCT FROM %(workspace)s AND coalesce(before, erased_at) >= %(at)s)
    """
    execute(sql, {"id": uuid7(), "workspace": workspace, "hash": subject_hash, "at": erased_at, "by": by})


def _json(value: Mapping[str, int]) -> str:
    return orjson.dumps(value).decode()
