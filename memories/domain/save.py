"""What a save asks for, and what became of it (design: save result)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from memories.domain.about import About
from memories.domain.conflict import Difference, as_json
from memories.domain.kinds import DEFAULT_PROVENANCE
from omnia.core.scope import Scope


class Action(StrEnum):
    """What a write did."""

    ADDED = "added"
    MERGED = "merged"
    AUTO_SUPERSEDED = "auto_superseded"
    SUPERSEDED = "superseded"
    UPDATED = "updated"
    RESTORED = "restored"


REASON = {
    Action.MERGED: "high_similarity",
    Action.AUTO_SUPERSEDED: "structured_key",
    Action.SUPERSEDED: "supersede_many",
}
"""Why an earlier wording gave way, as the save result and the history say it."""


@dataclass(frozen=True, slots=True)
class SaveCommand:
    """One memory to keep. `confidence` None means the writer did not state one.

    `any_type`: where no policy declares a schema, the type is free (an institutional write).
    """

    scope: Scope
    type: str
    content: str
    confidence: float | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    provenance: str = DEFAULT_PROVENANCE
    category: str | None = None
    about: About | None = None
    title: str | None = None
    summary: str | None = None
    purpose: str | None = None
    container: str | None = None
    session_id: str | None = None
    turn_range: tuple[int, int] | None = None
    observed_at: datetime | None = None
    expires_at: datetime | None = None
    share: bool = False
    any_type: bool = False

    def texts(self) -> Iterator[str | None]:
        """Everything of it that is read as a text."""
        yield from (self.content, self.title, self.summary, self.about.key if self.about else None)
        yield from self.metadata.values()


@dataclass(frozen=True, slots=True)
class SupersedeCommand:
    """One text for several memories of a scope; what is None stays as the first of them has it."""

    scope: Scope
    source_ids: tuple[UUID, ...]
    content: str
    type: str | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A near match that was left alone, for the agent to consider, and how the two contradict each other."""

    id: Any
    content: str
    similarity: float
    differences: tuple[Difference, ...] = ()

    def as_json(self) -> dict[str, Any]:
        answer = {"id": self.id, "content": self.content, "similarity": self.similarity}
        return answer | ({"conflict": as_json(self.differences)} if self.differences else {})


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What the save contradicts: the wording it replaced, or the memory it was kept apart from."""

    memory: Any
    previous: str
    differences: tuple[Difference, ...]

    def as_json(self) -> dict[str, Any]:
        return as_json(self.differences) | {"memory_id": self.memory, "previous_content": self.previous}


@dataclass(frozen=True, slots=True)
class SaveResult:
    """The memory as it now stands, and how it got there."""

    memory: dict[str, Any]
    action: Action
    supersedes: Sequence[Any] = ()
    potential_duplicates: Sequence[Duplicate] = ()
    share: Mapping[str, Any] | None = None
    conflict: Contradiction | None = None

    def as_json(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"memory": self.memory, "action": self.action.value}
        if self.supersedes:
            answer["supersedes"] = list(self.supersedes)
            answer["supersede_reason"] = REASON[self.action]
        if self.potential_duplicates:
            answer["potential_duplicates"] = [duplicate.as_json() for duplicate in self.potential_duplicates]
        if self.conflict is not None:
            answer["conflict"] = self.conflict.as_json()
        if self.share is not None:
            answer["share"] = dict(self.share)
        return answer
