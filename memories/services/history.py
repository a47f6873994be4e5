"""History: every earlier wording of a memory, newest first (design: /memories/{id}/history)."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from memories.domain.reach import Reach
from memories.services.open import not_found
from memories.store import memories
from memories.store.scope_sql import in_scope
from omnia.core.scope import Scope


def history(memory: UUID, *, scope: Scope, any_agent: bool = False, now: datetime) -> list[dict[str, Any]]:
    """The wordings a live memory had. Raises NotFound `memory_not_found` outside the scope."""
    if memories.read(memory, where=in_scope(Reach(scope, any_agent=any_agent), now=now)) is None:
        raise not_found()
    return memories.wordings(memory)
