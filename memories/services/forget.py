"""Forget: one memory into the trash, or everything a user or an agent has, for good (reference: Forget)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from memories.domain.reach import Reach
from memories.services.open import not_found
from memories.store import memories, removal
from memories.store.locks import owner_lock
from omnia.api import idempotency
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.errors import BadInput
from omnia.core.scope import Scope


def forget(memory: UUID, *, scope: Scope, any_agent: bool = False, now: datetime, actor: Actor) -> None:
    """Puts a live memory into the trash: from now on no surface shows it, and no save merges into it.

    Raises NotFound `memory_not_found` outside the scope, or when it is no longer live.
    """
    with transaction.atomic():
        owner_lock(scope)
        if not removal.retire(memory, reach=Reach(scope, any_agent=any_agent), now=now):
            raise not_found()
        idempotency.drop_answers_with([memory])
        record.memory_deleted(scope=scope, actor=actor, memory=memory, reason="forgotten")


def forget_everything(scope: Scope, *, actor: Actor) -> int:
    """Deletes, at once and for good, all rows of a user or an agent, and answers how many memories there were.

    A user without an agent covers every row of that user, whatever the agent; what was already expired or
    in the trash goes too. Raises BadInput `scope_too_wide` without either: an empty filter never means all.
    """
    _require_an_owner(scope)
    with transaction.atomic():
        owner_lock(scope)
        deleted = removal.delete_all(scope)
        _forgotten(scope, deleted, actor=actor, reason="forget_everything")
    return deleted


def forget_oldest(scope: Scope, *, limit: int, actor: Actor) -> int:
    """As `forget_everything`, at most `limit` memories at a time, the oldest first; 0 once there are none left."""
    _require_an_owner(scope)
    with transaction.atomic():
        owner_lock(scope)
        deleted = removal.delete_oldest(scope, limit=limit)
        if deleted:
            _forgotten(scope, deleted, actor=actor, reason="forget_batch")
    return deleted


def forget_shared(memory: UUID, *, scope: Scope, now: datetime, actor: Actor) -> None:
    """As `forget`, by a route of one shared tier. Raises BadInput `other_tier` for a live memory of another."""
    if memories.live_tier(memory, workspace=scope.workspace, now=now) not in (None, scope.tier):
        raise BadInput(f"This memory is not of the {scope.tier} tier; forget it in its own scope.", code="other_tier")
    forget(memory, scope=scope, now=now, actor=actor)


def _require_an_owner(scope: Scope) -> None:
    if scope.user is None and scope.agent is None:
        raise BadInput("Name the user or the agent whose memories are to go.", code="scope_too_wide")


def _forgotten(scope: Scope, deleted: int, *, actor: Actor, reason: str) -> None:
    """What goes and stays with the rows: the answers kept for a user, and the mark in the audit."""
    if scope.user:
        idempotency.drop_answers(workspace=scope.workspace, subject=scope.user)
    record.memory_deleted(scope=scope, actor=actor, memory=None, reason=reason, metadata={"deleted": deleted})
