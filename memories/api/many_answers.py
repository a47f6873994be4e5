"""What the routes over several memories at once answer, for the OpenAPI document."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel

from memories.api.answers import (
    ConflictAnswer,
    ContradictionAnswer,
    DuplicateAnswer,
    MemoryAnswer,
    ScopeAnswer,
    WordingAnswer,
)


class ConflictPairAnswer(ConflictAnswer):
    """A memory beside what it contradicts: an earlier wording of its own, or another memory."""

    id: UUID
    memory_id: UUID
    other_memory_id: UUID | None = None
    content: str
    earlier_content: str
    scope: ScopeAnswer
    found_at: datetime


class ConflictsAnswer(BaseModel):
    conflicts: list[ConflictPairAnswer]
    total: int
    next: str | None


class FieldProblemAnswer(BaseModel):
    pointer: str
    code: str
    detail: str


class ItemErrorAnswer(BaseModel):
    code: str
    detail: str
    errors: list[FieldProblemAnswer] | None = None


class BatchResultAnswer(BaseModel):
    """What became of one item: the fields of a save result, or `error`."""

    index: int
    status: int
    memory: MemoryAnswer | None = None
    action: Literal["added", "merged", "auto_superseded"] | None = None
    supersedes: list[UUID] | None = None
    supersede_reason: Literal["high_similarity", "structured_key"] | None = None
    potential_duplicates: list[DuplicateAnswer] | None = None
    conflict: ContradictionAnswer | None = None
    error: ItemErrorAnswer | None = None


class BatchAnswer(BaseModel):
    results: list[BatchResultAnswer]


class ExportedMemoryAnswer(MemoryAnswer):
    """A memory with its earlier wordings; the marks say why it is no longer live."""

    forgotten_at: datetime | None = None
    superseded_at: datetime | None = None
    superseded_by: UUID | None = None
    invalidated_at: datetime | None = None
    expired: Literal[True] | None = None
    history: list[WordingAnswer]


class ExportAnswer(BaseModel):
    exported_at: datetime
    memories: list[ExportedMemoryAnswer]


class RejectedAnswer(BaseModel):
    index: int
    code: str
    detail: str


class ImportAnswer(BaseModel):
    """`merged` counts what met a memory that was there, `skipped` what an export marks as no longer live."""

    imported: int
    merged: int
    skipped: int
    rejected: list[RejectedAnswer]
