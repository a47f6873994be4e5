"""What a recall asks for, and what it answers (design: Recall)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.domain.expansion import ExpansionWish
from memories.domain.lookup import Lookup
from memories.domain.ranking import DEFAULT_LIMIT
from omnia.core.scope import Scope


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """One question in one scope. The scope joins its tiers: institutional, agent, user, user for agent.

    `seeds` are ids of memories, or of what memories are about. Without a question, `seeds` and `lookups` are
    all that is asked for. `as_of` asks what was known at an earlier moment; it goes with a question alone.
    """

    scope: Scope
    query: str = ""
    types: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    min_confidence: float | None = None
    limit: int = DEFAULT_LIMIT
    preview: bool = False
    explain: bool = False
    expansion: ExpansionWish = field(default_factory=ExpansionWish)
    seeds: tuple[UUID, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    as_of: datetime | None = None

    @property
    def asks(self) -> bool:
        """Whether there is something to rank: a question, or nothing named that could stand for one."""
        return bool(self.query or not (self.seeds or self.lookups))


@dataclass(frozen=True, slots=True)
class RecallResult:
    """Rows in the wire form, best first; `explain` says how the question was answered, when asked."""

    memories: list[dict[str, Any]]
    explain: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"memories": self.memories, "total": len(self.memories)}
        return answer | {"explain": self.explain} if self.explain else answer
