"""What a recall asks for, and what it answers (design: Recall)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memories.domain.ranking import DEFAULT_LIMIT
from omnia.core.scope import Scope


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """One question in one scope. The scope joins its tiers: institutional, agent, user, user for agent."""

    scope: Scope
    query: str = ""
    types: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    min_confidence: float | None = None
    limit: int = DEFAULT_LIMIT
    preview: bool = False
    explain: bool = False


@dataclass(frozen=True, slots=True)
class RecallResult:
    """Rows in the wire form, best first; `explain` says how the question was answered, when asked."""

    memories: list[dict[str, Any]]
    explain: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"memories": self.memories, "total": len(self.memories)}
        return answer | {"explain": self.explain} if self.explain else answer
