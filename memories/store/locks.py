"""The lock that makes writers of one owner take turns (architecture: lock order workspace → subject → memory id)."""

from __future__ import annotations

from collections.abc import Iterable

from omnia.core.scope import Scope
from omnia.db import advisory_lock


def owner_lock(scope: Scope) -> None:
    """The first statement of a write: waits for every other write of the same user, or agent, or institution.

    A user's scopes share one lock whatever the agent, so that "forget everything" waits for all their saves.
    """
    advisory_lock("owner", scope.workspace, scope.user, None if scope.user else scope.agent)


def owner_locks(scopes: Iterable[Scope]) -> None:
    """The locks of several owners, always in one order: the institution's, the agents', the users'."""
    for scope in sorted(scopes, key=lambda scope: (scope.user or "", scope.agent or "")):
        owner_lock(scope)
