"""The documents of a workspace: kept under their key, listed, and removed with all that is part of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.domain.document import SourceDocument
from memories.models import Document
from memories.store import removal
from memories.store.scope_sql import LIVE
from omnia.db import execute, fetch_dicts

_READABLE = f"""
FROM memories_document d WHERE d.workspace_id = %(workspace)s
    AND EXISTS (SELECT FROM memories_memory m WHERE m.document_id = d.id AND {LIVE})
"""
"""A document whose memories have all expired or were forgotten says nothing any more."""
_COLUMNS = "d.id, d.key AS document_id, d.title, d.url, d.site, d.sections, d.items, d.created_at, d.updated_at"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ends: the last document's place in the order."""

    updated_at: datetime
    id: UUID


def ensure(source: SourceDocument, *, workspace: UUID, now: datetime) -> tuple[Document, bool]:
    """The document of that key, and whether it is new. The caller holds the institution's lock."""
    named = {"title": source.title, "url": source.url, "site": source.site, "updated_at": now}
    return Document.objects.update_or_create(
        workspace_id=workspace, key=source.key, defaults=named, create_defaults=named | {"created_at": now}
    )


def note_counts(document: UUID, *, sections: int, items: int) -> None:
    Document.objects.filter(pk=document).update(sections=sections, items=items)


def find(key: str, *, workspace: UUID) -> UUID | None:
    """The document of that key in this workspace."""
    return Document.objects.filter(workspace_id=workspace, key=key).values_list("pk", flat=True).first()


def delete(document: UUID) -> int:
    """Deletes a document and all its memories, live or not, with what hangs on them; how many memories there were."""
    rows = fetch_dicts("SELECT id FROM memories_memory WHERE document_id = %(document)s", {"document": document})
    deleted = removal.delete([row["id"] for row in rows])
    execute("DELETE FROM memories_document WHERE id = %(document)s", {"document": document})
    return deleted.total()


def newest(
    workspace: UUID, *, after: Place | None, offset: int, limit: int, now: datetime
) -> tuple[list[dict[str, Any]], int]:
    """At most `limit` documents, last ingested first, and how many there are in all."""
    known = {"workspace": workspace, "now": now}
    page = "AND (d.updated_at, d.id) < (%(after_time)s, %(after_id)s)" if after else ""
    place = {"after_time": after.updated_at, "after_id": after.id} if after else {}
    order = "ORDER BY d.updated_at DESC, d.id DESC LIMIT %(limit)s OFFSET %(offset)s"
    rows = fetch_dicts(
        f"SELECT {_COLUMNS} {_READABLE} {page} {order}", known | place | {"limit": limit, "offset": offset}
    )
    [total] = fetch_dicts(f"SELECT count(*) AS documents {_READABLE}", known)
    return rows, int(total["documents"])
