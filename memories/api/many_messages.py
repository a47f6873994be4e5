"""What the routes that take several memories at once accept."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from memories.api.messages import Label, SaveMessage, ScopeMessage, Unit
from omnia.api.message import Message

LARGEST_BATCH, LARGEST_IMPORT = 100, 10_000
MOST_DELETED, DELETED_UNLESS_SAID = 10_000, 500


class SupersedeMessage(Message):
    """POST /memories/supersede."""

    scope: ScopeMessage = ScopeMessage()
    source_ids: Annotated[list[str], Field(min_length=1, max_length=LARGEST_BATCH)]
    content: str
    type: Label | None = Field(default=None, description="Left out: the first source's.")
    confidence: Unit | None = Field(default=None, description="Left out: the first source's.")


class RestoreMessage(Message):
    """POST /memories/{id}/restore."""

    scope: ScopeMessage = ScopeMessage()


class BatchMessage(Message):
    """POST /memories/batch. Each item is read by itself, so that a bad one fails alone."""

    items: Annotated[list[Any], Field(min_length=1, max_length=LARGEST_BATCH)]


class DeleteBatchMessage(Message):
    """DELETE /memories/batch."""

    limit: Annotated[int, Field(ge=1, le=MOST_DELETED)] | None = None


class ImportMessage(Message):
    """POST /memories/import: `items`, or the `memories` of an export."""

    scope: ScopeMessage = ScopeMessage()
    items: Annotated[list[Any], Field(max_length=LARGEST_IMPORT)] | None = None
    memories: Annotated[list[Any], Field(max_length=LARGEST_IMPORT)] | None = None


class ImportedMemory(SaveMessage):
    """A memory as it is saved, or as it was exported: whose it was and what it is worth there does not count."""

    scope: Any = None
    consent_category: str | None = Field(default=None, max_length=64)
    source_type: str | None = None


class SharedSaveMessage(SaveMessage):
    """A memory of a shared tier. A user named with it is left out; its provenance is `operator_curated`."""

    workspace_id: str | None = None
    agent_id: str | None = None
