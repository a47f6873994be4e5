"""Which services answer a page of the list and an opened memory (architecture: one domain call per interface)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.dashboard.forms import FilterForm
from memories.dashboard.reading import Row, row_of
from memories.domain.reach import Reach
from memories.services.browse import list_memories, search_memories
from memories.services.open import open_memory
from omnia.core.actor import Actor
from omnia.core.errors import NotFound
from omnia.core.scope import Scope
from policies.domain.effective import EffectivePolicy

PAGE_SIZE = 25


@dataclass(frozen=True, slots=True)
class Found:
    """One page: its rows, how many match in all, and the parameters that lead to the next (none on the last)."""

    rows: list[Row]
    total: int
    onward: dict[str, str]


def find(reach: Reach, *, wanted: FilterForm, policy: EffectivePolicy, now: datetime) -> Found:
    """The page of `reach` that a valid form asks for: by relevance with a search text, else newest first."""
    query, offset = wanted.cleaned_data["q"], wanted.cleaned_data["offset"] or 0
    if query:
        page = search_memories(
            reach,
            query=query,
            filters=wanted.filters(),
            limit=PAGE_SIZE,
            offset=offset,
            preview=True,
            policy=policy,
            now=now,
        )
        reached = offset + len(page.memories)
        onward = {"offset": str(reached)} if page.memories and reached < page.total else {}
    else:
        cursor = wanted.cleaned_data["cursor"] or None
        page = list_memories(reach, filters=wanted.filters(), limit=PAGE_SIZE, cursor=cursor, offset=0, now=now)
        onward = {"cursor": page.next} if page.next else {}
    return Found([row_of(each, now=now) for each in page.memories], page.total, onward)


def open_in(reach: Reach, *, memory: UUID, actor: Actor, now: datetime) -> dict[str, Any]:
    """The memory, when `reach` holds it; opening it is an audit event. Raises NotFound."""
    for scope, any_agent in _scopes(reach):
        try:
            return open_memory(memory, scope=scope, any_agent=any_agent, now=now, actor=actor)
        except NotFound:
            continue
    raise NotFound("The open scope holds no such memory.", code="memory_not_found")


def _scopes(reach: Reach) -> Iterator[tuple[Scope, bool]]:
    """The exact scopes a reach is made of, each once."""
    workspace, agent = reach.scope.workspace, reach.scope.agent
    yield reach.scope, reach.any_agent
    if reach.include_shared:
        yield Scope(workspace), False
        if agent and reach.scope.user:
            yield Scope(workspace, agent=agent), False
