"""The five tools: each reads its arguments, calls the service its REST route calls, and answers the same JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from memories.domain.reach import Reach
from memories.mcp.arguments import ListArguments, MemoryArguments, RecallArguments, RememberArguments
from memories.mcp.caller import Caller
from memories.services.browse import list_memories
from memories.services.forget import forget
from memories.services.open import not_found, open_memory
from memories.services.recall import recall
from memories.services.remember import remember
from omnia.api.message import read
from omnia.api.principal import Role
from omnia.core.edition import Edition
from omnia.core.errors import NotFound
from omnia.core.scope import Scope
from policies.domain.effective import EffectivePolicy

Arguments = dict[str, Any]
T = TypeVar("T")


def _remember(arguments: Arguments, caller: Caller) -> object:
    wish = read(RememberArguments, arguments)
    admitted = caller.admit(at_least=Role.EDITOR)
    policy = admitted.policy
    command = wish.command(scope=admitted.scope, policy=policy)
    return remember(command, policy=policy, now=caller.now, actor=caller.actor).as_json()


def _recall(arguments: Arguments, caller: Caller) -> object:
    wish = read(RecallArguments, arguments)
    admitted = caller.admit(at_least=Role.VIEWER)
    return recall(wish.request(scope=admitted.scope), policy=admitted.policy, now=caller.now).as_json()


def _list(arguments: Arguments, caller: Caller) -> object:
    wish = read(ListArguments, arguments)
    reach = Reach(caller.admit(at_least=Role.VIEWER).scope, include_agentless=True)
    page = list_memories(reach, filters=wish.filters, limit=wish.limit, cursor=None, offset=wish.offset, now=caller.now)
    return page.as_json()


def _open(arguments: Arguments, caller: Caller) -> object:
    memory = read(MemoryArguments, arguments).memory
    admitted = caller.admit(at_least=Role.VIEWER)
    scopes = (*_personal(admitted.scope), *_shared(admitted.scope, policy=admitted.policy))
    return _first_found(scopes, lambda scope: open_memory(memory, scope=scope, now=caller.now, actor=caller.actor))


def _forget(arguments: Arguments, caller: Caller) -> object:
    memory = read(MemoryArguments, arguments).memory
    scopes = _personal(caller.admit(at_least=Role.EDITOR).scope)
    _first_found(scopes, lambda scope: forget(memory, scope=scope, now=caller.now, actor=caller.actor))
    return {"status": "forgotten", "memory_id": memory}


TOOLS: Mapping[str, Callable[[Arguments, Caller], object]] = {
    "memory__remember": _remember,
    "memory__recall": _recall,
    "memory__list": _list,
    "memory__forget": _forget,
    "memory__open": _open,
}


def _personal(scope: Scope) -> Iterator[Scope]:
    """The scopes whose memories are the person's: for this agent, and for none."""
    yield scope
    if scope.agent is not None:
        yield Scope(scope.workspace, scope.user)


def _shared(scope: Scope, *, policy: EffectivePolicy) -> Iterator[Scope]:
    """The shared scopes a recall joins."""
    if scope.agent is not None:
        yield Scope(scope.workspace, None, scope.agent)
    if policy.edition is Edition.ENTERPRISE:
        yield Scope(scope.workspace)


def _first_found(scopes: Iterable[Scope], call: Callable[[Scope], T]) -> T:
    """What `call` makes of the first scope that holds the memory: an id that a recall returned works everywhere.

    Raises NotFound when none does.
    """
    for scope in scopes:
        try:
            return call(scope)
        except NotFound:
            continue
    raise not_found()
