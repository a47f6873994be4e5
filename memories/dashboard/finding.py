"""Which services answer a page of the list and an opened memory (architecture: one domain call per interface)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from memories.dashboard.forms import FilterForm
from memories.dashboard.reading import OpenedMemory, Row, opened, row_of
from memories.domain.reach import Reach
from memories.services.browse import list_memories, search_memories
from memories.services.forget import forget
from memories.services.history import history
from memories.services.open import open_memory
from memories.services.restore import restorable_until, restore
from memories.services.standing import may_change, refusal
from omnia.api.principal import Role
from omnia.core.actor import Actor
from omnia.core.errors import NotFound
from omnia.core.scope import Scope, Tier
from policies.dashboard.moments import Moment, seen_from
from policies.domain.effective import EffectivePolicy

PAGE_SIZE = 25

Answer = TypeVar("Answer")


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


def open_in(reach: Reach, *, memory: UUID, actor: Actor, now: datetime) -> OpenedMemory:
    """The memory with its history, when `reach` holds it; opening it is an audit event. Raises NotFound."""

    def read(scope: Scope, any_agent: bool) -> OpenedMemory:
        found = open_memory(memory, scope=scope, any_agent=any_agent, now=now, actor=actor)
        return opened(found, wordings=history(memory, scope=scope, any_agent=any_agent, now=now), now=now)

    return _first(reach, read)


def forget_in(reach: Reach, *, memory: UUID, role: Role, actor: Actor, now: datetime) -> None:
    """Forgets the memory, when `reach` holds it and the role covers its tier. Raises NotFound or Forbidden."""

    def leave(scope: Scope, any_agent: bool) -> None:
        _require(scope.tier, role=role)
        forget(memory, scope=scope, any_agent=any_agent, now=now, actor=actor)

    _first(reach, leave)


def restore_in(reach: Reach, *, memory: UUID, role: Role, policy: EffectivePolicy, actor: Actor, now: datetime) -> None:
    """Takes the memory out of the trash, when it lies there in `reach`. Raises NotFound, Forbidden or Conflict."""

    def take_back(scope: Scope, any_agent: bool) -> None:
        _require(scope.tier, role=role)
        restore(memory, scope=scope, any_agent=any_agent, policy=policy, now=now, actor=actor)

    _first(reach, take_back)


def trashed_in(reach: Reach, *, memory: UUID, role: Role, now: datetime) -> Moment | None:
    """Until when the memory can be had back from the trash of `reach` by somebody of this role."""
    scopes = [each for each in _scopes(reach) if may_change(each[0].tier, role=role)]
    ends = (restorable_until(memory, scope=scope, any_agent=any_agent, now=now) for scope, any_agent in scopes)
    return next((seen_from(now, end) for end in ends if end), None)


def _require(tier: Tier, *, role: Role) -> None:
    if refused := refusal(tier, role=role):
        raise refused


def _first(reach: Reach, act: Callable[[Scope, bool], Answer]) -> Answer:
    """What `act` answers in the first of the reach's exact scopes that holds the memory."""
    for scope, any_agent in _scopes(reach):
        with suppress(NotFound):
            return act(scope, any_agent)
    raise NotFound("The open scope holds no such memory.", code="memory_not_found")


def _scopes(reach: Reach) -> Iterator[tuple[Scope, bool]]:
    """The exact scopes a reach is made of, each once."""
    workspace, agent = reach.scope.workspace, reach.scope.agent
    yield reach.scope, reach.any_agent
    if reach.include_shared:
        yield Scope(workspace), False
        if agent and reach.scope.user:
            yield Scope(workspace, agent=agent), False
