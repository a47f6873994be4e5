"""The memories of a document: which it has, and the statements that make them what it says now.

A node is known again by what its vector stands for, its title and content; the document itself is
always the one it was.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

import orjson

from memories.domain.confidence import UNSTATED
from memories.domain.document import DOCUMENT, NEXT, PART_OF, SOURCE_TYPE, Link, Node
from memories.store.scope_sql import LIVE
from omnia.core.ids import uuid7
from omnia.db import execute, fetch_dicts, load_sql

_INSERT = load_sql("memories", "insert_document_nodes")
_RESTATE = load_sql("memories", "restate_document_nodes").format(
    same="(m.title, m.content) IS NOT DISTINCT FROM (n.title, n.content)"
)
_HELD = f"""
SELECT m.id, ({LIVE}) AS live, CASE WHEN m.type = '{DOCUMENT}' THEN ''::bytea
    ELSE sha256(convert_to(m.type || chr(31) || coalesce(m.title, '') || chr(31) || m.content, 'UTF8')) END AS mark
FROM memories_memory m WHERE m.document_id = %(document)s ORDER BY m.id
"""
_REFILE = """
UPDATE memories_memory m
SET metadata = %(metadata)s::jsonb, expires_at = %(expires_at)s::timestamptz, updated_at = %(now)s
WHERE m.document_id = %(document)s
    AND (m.metadata, m.expires_at) IS DISTINCT FROM (%(metadata)s::jsonb, %(expires_at)s::timestamptz)
"""
_EDGES = f"""
SELECT e.id, e.source_id, e.target_id, e.relation_type FROM memories_edge e
JOIN memories_memory s ON s.id = e.source_id JOIN memories_memory t ON t.id = e.target_id
WHERE s.document_id = %(document)s AND t.document_id = %(document)s AND e.relation_type IN ('{PART_OF}', '{NEXT}')
"""
_JOIN = """
INSERT INTO memories_edge (id, workspace_id, source_id, target_id, relation_type, weight, metadata, created_at)
SELECT n.id, %(workspace)s::uuid, n.source, n.target, n.relation, 1.0, '{}', %(now)s::timestamptz
FROM unnest(%(ids)s::uuid[], %(sources)s::uuid[], %(targets)s::uuid[], %(relations)s::text[])
    AS n (id, source, target, relation)
ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class Filing:
    """What all memories of one ingest have in common. `embed_after` None: no vector is to follow."""

    workspace: UUID
    document: UUID
    metadata: Mapping[str, str]
    expires_at: datetime | None
    embed_after: datetime | None
    now: datetime

    def parameters(self) -> dict[str, Any]:
        return {
            "workspace": self.workspace,
            "document": self.document,
            "metadata": orjson.dumps(self.metadata).decode(),
            "expires_at": self.expires_at,
            "embed_after": self.embed_after,
            "now": self.now,
        }


class Held:
    """The memories a document has, to be taken up again by the nodes that say the same."""

    def __init__(self, document: UUID, *, now: datetime) -> None:
        self._ids = defaultdict[bytes, deque[UUID]](deque)
        self._retired: list[UUID] = []
        for row in fetch_dicts(_HELD, {"document": document, "now": now}):
            (self._ids[row["mark"]] if row["live"] else self._retired).append(row["id"])

    def take(self, node: Node) -> UUID | None:
        """The memory of such a node, each only once and in reading order; None when there is none left."""
        ids = self._ids.get(_mark(node))
        return ids.popleft() if ids else None

    def left(self) -> list[UUID]:
        """Those no node took up, and those that were no longer live."""
        return [*self._retired, *chain.from_iterable(self._ids.values())]


def insert(nodes: Sequence[tuple[UUID, Node]], *, filing: Filing) -> None:
    """Stores new memories, in one statement."""
    shared = filing.parameters() | {"source_type": SOURCE_TYPE, "confidence": UNSTATED}
    execute(_INSERT, shared | _columns(nodes) | {"types": [node.type for _, node in nodes]})


def restate(nodes: Sequence[tuple[UUID, Node]], *, filing: Filing) -> int:
    """Gives memories that stay the title, content and summary of their nodes; how many said something else."""
    return execute(_RESTATE, {"embed_after": filing.embed_after, "now": filing.now} | _columns(nodes))


def refile(filing: Filing) -> None:
    """Gives every memory of the document its metadata and expiry of now."""
    execute(_REFILE, filing.parameters())


def join(links: Iterable[Link], *, filing: Filing) -> None:
    """Makes these the document's only edges of their relations; what is there already stays as it is."""
    rows = fetch_dicts(_EDGES, {"document": filing.document})
    there = {(row["source_id"], row["target_id"], row["relation_type"]): row["id"] for row in rows}
    missing = [link for link in links if there.pop(link, None) is None]
    execute("DELETE FROM memories_edge WHERE id = ANY(%(ids)s::uuid[])", {"ids": list(there.values())})
    columns = {
        "ids": [uuid7() for _ in missing],
        "sources": [source for source, _, _ in missing],
        "targets": [target for _, target, _ in missing],
        "relations": [relation for _, _, relation in missing],
    }
    execute(_JOIN, {"workspace": filing.workspace, "now": filing.now} | columns)


def _columns(batch: Sequence[tuple[UUID, Node]]) -> dict[str, Any]:
    return {
        "ids": [memory for memory, _ in batch],
        "titles": [node.title for _, node in batch],
        "contents": [node.content for _, node in batch],
        "summaries": [node.summary for _, node in batch],
    }


def _mark(node: Node) -> bytes:
    if node.type == DOCUMENT:
        return b""
    return hashlib.sha256(f"{node.type}\x1f{node.title or ''}\x1f{node.content}".encode()).digest()
