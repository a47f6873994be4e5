"""Open: one memory by its id, and what it said before."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from memories.domain.reach import Reach
from memories.services import accesses
from memories.store import memories
from memories.store.rows import memory_object
from memories.store.scope_sql import in_scope
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.errors import NotFound
from omnia.core.scope import Scope


def open_memory(memory: UUID, *, scope: Scope, any_agent: bool = False, now: datetime, actor: Actor) -> dict[str, Any]:
    """The memory object. Raises NotFound `memory_not_found` outside the scope, or once it is no longer live."""
    row = memories.read(memory, where=in_scope(Reach(scope, any_agent=any_agent), now=now))
    if row is None:
        raise not_found()
    accesses.note([row], now=now)
    with transaction.atomic():
        record.memory_accessed(scope=scope, actor=actor, memory=memory)
    return memory_object(row) | {"access_count": row["access_count"]}


def not_found() -> NotFound:
    """One answer for a memory that is not there and one that is not yours."""
    return NotFound("There is no such memory in this scope.", code="memory_not_found")
