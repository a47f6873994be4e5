"""What the memory routes answer, for the OpenAPI document; the rows themselves are rendered from dictionaries."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from memories.domain.conflict import Difference


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


class EdgeAnswer(BaseModel):
    source_id: UUID
    target_id: UUID
    relation_type: str
    weight: float = Field(ge=0, le=1)


class RelatedAnswer(EdgeAnswer):
    """A relation of the memory, to one the caller may see."""

    direction: Literal["outgoing"]


class FoundMemoryAnswer(MemoryAnswer):
    """A memory a search found, with its score; a preview says what it is related to as well."""

    score: float
    access_count: int | None = None
    source: Literal["direct", "graph", "lookup"] | None = None
    related: list[RelatedAnswer] | None = None
    content_preview: str | None = None
    has_full_body: bool | None = None


class GraphAnswer(BaseModel):
    """The seed a row of the graph was reached from, and the relations walked."""

    seed_id: UUID
    seed_score: float
    hops: int
    path: list[EdgeAnswer]


class ExplanationAnswer(BaseModel):
    """Where a score comes from: rank and value in each leg and every factor, or the way through the graph."""

    text_rank: int | None
    text_value: float | None
    vector_rank: int | None
    vector_value: float | None
    rrf: float | None
    source_weight: float | None
    confidence: float | None
    recency: float | None
    tier_weight: float | None
    graph: GraphAnswer | None = None


class RecalledMemoryAnswer(FoundMemoryAnswer):
    """A memory a recall found."""

    access_count: int
    source: Literal["direct", "graph", "lookup"]
    related: list[RelatedAnswer]
    hops: int | None = Field(default=None, description="How far from what was found; only of a row of the graph.")
    explain: ExplanationAnswer | None = None


class ConflictAnswer(BaseModel):
    """How two texts contradict each other; `kind` is the first of `kinds`."""

    kind: Difference
    kinds: list[Difference]


class ContradictionAnswer(ConflictAnswer):
    """What a save contradicts: the wording of `memory_id` it replaced, or the memory it was kept apart from."""

    memory_id: UUID
    previous_content: str


class DuplicateAnswer(BaseModel):
    id: UUID
    content: str
    similarity: float
    conflict: ConflictAnswer | None = None


class SaveAnswer(BaseModel):
    memory: MemoryAnswer
    action: Literal["added", "merged", "auto_superseded", "superseded", "updated", "restored"]
    supersedes: list[UUID] | None = None
    supersede_reason: Literal["high_similarity", "structured_key", "supersede_many"] | None = None
    potential_duplicates: list[DuplicateAnswer] | None = None
    conflict: ContradictionAnswer | None = None


class ListAnswer(BaseModel):
    memories: list[MemoryAnswer]
    total: int
    next: str | None


class SearchAnswer(BaseModel):
    memories: list[FoundMemoryAnswer]
    total: int
    next: str | None


class ExpansionAnswer(BaseModel):
    enabled: bool
    hops: int
    relation_types: list[str]
    max_added: int
    weight: float


class ModeAnswer(BaseModel):
    mode: Literal["hybrid", "text", "newest", "lookup"]
    graph_expansion: ExpansionAnswer | None = None


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


class RelationIdAnswer(BaseModel):
    id: UUID


class RelationAnswer(EdgeAnswer):
    """A relation, as seen from the memory asked about."""

    id: UUID
    direction: Literal["outgoing", "incoming"]
    metadata: dict[str, str]
    created_at: datetime


class RelationsAnswer(BaseModel):
    relations: list[RelationAnswer]
    total: int
    next: str | None


class UnrelatedAnswer(BaseModel):
    status: Literal["deleted"]
    id: UUID


class ToolAnswer(BaseModel):
    name: Literal["memory__remember", "memory__recall", "memory__list", "memory__forget", "memory__open"]
    description: str
    parameters: dict[str, Any] = Field(description="A JSON Schema object.")


class GuidanceAnswer(BaseModel):
    version: str
    tools: list[ToolAnswer]
