"""Restore: a forgotten memory taken back, while the trash keeps it (design: POST /memories/{id}/restore).

It comes back as if it were saved now: not when it has expired, and not beside another that took its place meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from memories.domain.reach import Reach
from memories.domain.save import Action, SaveResult
from memories.services import consent, vectors
from memories.services.compare import Compared, compared, mergeable
from memories.services.open import not_found
from memories.store import entities, removal
from memories.store.duplicates import Alike
from memories.store.locks import owner_lock
from memories.store.rows import memory_object
from memories.store.scope_sql import Where, in_trash
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.errors import Conflict
from omnia.core.scope import Scope
from policies.domain.effective import EffectivePolicy


def restore(
    memory: UUID, *, scope: Scope, any_agent: bool = False, policy: EffectivePolicy, now: datetime, actor: Actor
) -> SaveResult:
    """Takes a memory of the scope out of the trash.

    Raises NotFound `memory_not_found` when the trash of the scope does not hold it any more; Conflict
    `about_key_taken` or `already_remembered` when a live memory stands in its place; ConsentDenied or
    ConsentUnavailable where the person does not agree to it (any more).
    """
    where = in_trash(Reach(scope, any_agent=any_agent), now=now, retention=settings.OMNIA.trash_retention)
    category = _trashed(memory, where=where)["consent_category"]
    with consent.told(scope, actor=actor):
        leave = consent.leave(category, scope=scope, policy=policy, actor=actor)
        with transaction.atomic():
            owner_lock(scope)
            if leave:
                leave.still_stands()
            near = _beside(_trashed(memory, where=where), policy=policy, now=now)
            restored = removal.restore(memory, now=now)
            record.memory_restored(scope=scope, actor=actor, memory=memory)
    return SaveResult(
        memory_object(restored), Action.RESTORED, potential_duplicates=[each.as_duplicate() for each in near]
    )


def restorable_until(memory: UUID, *, scope: Scope, any_agent: bool = False, now: datetime) -> datetime | None:
    """When the trash of the scope lets go of the memory; None when it does not hold it."""
    where = in_trash(Reach(scope, any_agent=any_agent), now=now, retention=settings.OMNIA.trash_retention)
    row = removal.find_trashed(memory, where=where)
    if row is None:
        return None
    purged_at: datetime = row["retired_at"] + settings.OMNIA.trash_retention
    return min(purged_at, row["expires_at"] or purged_at)


def _trashed(memory: UUID, *, where: Where) -> dict[str, Any]:
    row = removal.find_trashed(memory, where=where)
    if row is None:
        raise not_found()
    return row


def _beside(row: Mapping[str, Any], *, policy: EffectivePolicy, now: datetime) -> Sequence[Compared]:
    """The live memories that are like it. Raises Conflict when one of them stands in its place."""
    if row["entity_id"] is not None:
        if kept := entities.live_memory(row["entity_id"], now=now):
            raise _taken(kept, "is kept under the same about key by now", code="about_key_taken")
        return []
    scope = Scope(row["workspace_id"], row["user_id"], row["agent_id"])
    alike = Alike(scope, row["container"], row["evidence_class"], row["type"])
    near = compared(alike, row["content"], vector=vectors.held(row), rules=policy.dedup, now=now)
    for twin in mergeable(near, rules=policy.dedup):
        raise _taken(twin.candidate.id, "says the same by now", code="already_remembered")
    return near


def _taken(memory: UUID, why: str, *, code: str) -> Conflict:
    return Conflict(f"The memory {memory} {why}. Forget that one first, then restore this one.", code=code)
