"""The lock that makes writers of one owner take turns (architecture: lock order workspace → subject → memory id)."""

from __future__ import annotations

from omnia.core.scope import Scope
from omnia.db import advisory_lock


def owner_lock(scope: Scope) -> None:
    """The first statement of a write: waits for every other write of the same user, or agent, or institution.

    A user's scopes share one lock whatever the agent, so that "forget everything" waits for all their saves.
    """
    advisory_lock("owner", scope.workspace, scope.user, None if scope.user else scope.agent)
