"""Forget: one memory into the trash, or everything a user or an agent has, for good (reference: Forget)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from memories.domain.reach import Reach
from memories.services.open import not_found
from memories.store import removal
from memories.store.locks import owner_lock
from omnia.api.models import IdempotencyRecord
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
        record.memory_deleted(scope=scope, actor=actor, memory=memory, reason="forgotten")


def forget_everything(scope: Scope, *, actor: Actor) -> int:
    """Deletes, at once and for good, all rows of a user or an agent, and answers how many memories there were.

    A user without an agent covers every row of that user, whatever the agent; what was already expired or
    in the trash goes too. Raises BadInput `scope_too_wide` without either: an empty filter never means all.
    """
    if scope.user is None and scope.agent is None:
        raise BadInput("Name the user or the agent whose memories are to go.", code="scope_too_wide")
    with transaction.atomic():
        owner_lock(scope)
        deleted = removal.delete_all(scope)
        if scope.user:
            IdempotencyRecord.objects.filter(workspace_id=scope.workspace, subject=scope.user).delete()
        record.memory_deleted(
            scope=scope, actor=actor, memory=None, reason="forget_everything", metadata={"deleted": deleted}
        )
    return deleted
