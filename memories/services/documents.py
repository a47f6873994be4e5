"""Documents: which a workspace has, and the end of one with all that is part of it (design: Memories)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from memories.store import documents
from memories.store.locks import owner_lock
from omnia.api.pagination import decode_cursor, encode_cursor
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.errors import NotFound
from omnia.core.scope import Scope

_PURPOSE = "documents"
_SHOWN = ("document_id", "title", "url", "site", "sections", "items", "created_at", "updated_at")


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Documents in the wire form, how many there are in all, and where the next page begins."""

    documents: list[dict[str, Any]]
    total: int
    next: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"documents": self.documents, "total": self.total, "next": self.next}


def list_documents(workspace: UUID, *, limit: int, cursor: str | None, offset: int, now: datetime) -> DocumentPage:
    """The documents that still say something, last ingested first.

    Raises BadInput `invalid_cursor` for a cursor that is not ours.
    """
    after = _place(cursor) if cursor else None
    rows, total = documents.newest(workspace, after=after, offset=offset, limit=limit + 1, now=now)
    shown = [{name: row[name] for name in _SHOWN if row[name] is not None} for row in rows[:limit]]
    return DocumentPage(shown, total, _cursor(rows[limit - 1]) if len(rows) > limit else None)


def delete_document(key: str, *, workspace: UUID, actor: Actor) -> int:
    """Deletes a document for good, with its sections, chunks, edges and history; how many memories there were.

    Raises NotFound `document_not_found` when this workspace has none of that key.
    """
    scope = Scope(workspace)
    with transaction.atomic():
        owner_lock(scope)
        document = documents.find(key, workspace=workspace)
        if document is None:
            raise NotFound("There is no such document in this workspace.", code="document_not_found")
        deleted = documents.delete(document)
        facts = {"document": str(document), "deleted": deleted}
        record.memory_deleted(scope=scope, actor=actor, memory=None, reason="document_deleted", metadata=facts)
    return deleted


def _cursor(row: dict[str, Any]) -> str:
    return encode_cursor([row["updated_at"].isoformat(), row["id"].hex], purpose=_PURPOSE)


def _place(cursor: str) -> documents.Place:
    updated_at, document = decode_cursor(cursor, purpose=_PURPOSE)
    return documents.Place(datetime.fromisoformat(str(updated_at)), UUID(str(document)))
