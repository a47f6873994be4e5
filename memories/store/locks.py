"""The lock that makes writers of one owner take turns (architecture: lock order workspace → subject → memory id)."""

from __future__ import annotations

from collections.abc import Iterable

from omnia.core.scope import Scope
from omnia.db import advisory_lock, lock_key, try_advisory_locks


def owner_lock(scope: Scope) -> None:
    """The first statement of a write: waits for every other write of the same user, or agent, or institution.

    A user's scopes share one lock whatever the agent, so that "forget everything" waits for all their saves.
    """
    advisory_lock(*_owner(scope))


def owner_locks(scopes: Iterable[Scope]) -> None:
    """The locks of several owners, always in one order: the institution's, the agents', the users'."""
    for scope in sorted(scopes, key=lambda scope: (scope.user or "", scope.agent or "")):
        owner_lock(scope)


def lock_free_owners(scopes: Iterable[Scope]) -> set[Scope]:
    """Takes the locks of those owners nobody holds, without waiting, and answers which scopes are theirs."""
    keys = {scope: lock_key(*_owner(scope)) for scope in scopes}
    taken = try_advisory_locks(set(keys.values()))
    return {scope for scope, key in keys.items() if key in taken}


def _owner(scope: Scope) -> tuple[object, ...]:
    return "owner", scope.workspace, scope.user, None if scope.user else scope.agent
