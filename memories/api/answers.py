"""What the memory routes answer, for the OpenAPI document; the rows themselves are rendered from dictionaries."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field


class ScopeAnswer(BaseModel):
    workspace_id: UUID
    virtual_user_id: str | None = None
    agent_id: str | None = None


class AboutAnswer(BaseModel):
    kind: str
    key: str


class MemoryAnswer(BaseModel):
    """A memory. A field that is not set is left out."""

    id: UUID
    type: str
    content: str
    metadata: dict[str, str]
    confidence: float = Field(ge=0, le=1)
    scope: ScopeAnswer
    tier: Literal["institutional", "agent", "user", "user_for_agent"]
    created_at: datetime
    updated_at: datetime
    observed_at: datetime | None = None
    accessed_at: datetime | None = None
    expires_at: datetime | None = None
    session_id: str | None = None
    turn_range: list[int] | None = None
    title: str | None = None
    summary: str | None = None
    about: AboutAnswer | None = None
    container: str | None = None
    evidence_class: Literal["explicit", "curated", "inferred"]
    evidence_count: int
    source_type: str
    mutability: Literal["mutable", "summarisable_only", "immutable"]
    consent_category: str | None = None
    purpose: str | None = None
    body_size_bytes: int
    embedding_status: Literal["ready", "pending", "none"]


class FoundMemoryAnswer(MemoryAnswer):
    """A memory a search found, with its score."""

    score: float
    content_preview: str | None = None
    has_full_body: bool | None = None


class ExplanationAnswer(BaseModel):
    """Where a score comes from: rank and value in each leg, and every factor."""

    text_rank: int | None
    text_value: float | None
    vector_rank: int | None
    vector_value: float | None
    rrf: float
    source_weight: float
    confidence: float
    recency: float
    tier_weight: float


class RecalledMemoryAnswer(FoundMemoryAnswer):
    """A memory a recall found."""

    access_count: int
    source: Literal["direct", "graph", "lookup"]
    explain: ExplanationAnswer | None = None


class DuplicateAnswer(BaseModel):
    id: UUID
    content: str
    similarity: float


class SaveAnswer(BaseModel):
    memory: MemoryAnswer
    action: Literal["added", "merged", "auto_superseded", "updated"]
    supersedes: list[UUID] | None = None
    supersede_reason: Literal["high_similarity", "structured_key"] | None = None
    potential_duplicates: list[DuplicateAnswer] | None = None


class ListAnswer(BaseModel):
    memories: list[MemoryAnswer]
    total: int
    next: str | None


class SearchAnswer(BaseModel):
    memories: list[FoundMemoryAnswer]
    total: int
    next: str | None


class ModeAnswer(BaseModel):
    mode: Literal["hybrid", "text", "newest"]


class RecallAnswer(BaseModel):
    memories: list[RecalledMemoryAnswer]
    total: int
    explain: ModeAnswer | None = None


class ForgottenAnswer(BaseModel):
    status: Literal["forgotten"]
    memory_id: UUID


class DeletedAnswer(BaseModel):
    deleted: int


class WordingAnswer(BaseModel):
    type: str
    content: str
    title: str | None
    summary: str | None
    confidence: float
    said_at: datetime
    replaced_at: datetime
    reason: Literal["high_similarity", "structured_key", "supersede_many", "edited"]
    actor: str


class HistoryAnswer(BaseModel):
    wordings: list[WordingAnswer]
