"""Edit: a memory's words and attributes changed in place; what it said before stays in its history (design: PATCH)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from memories.domain.admission import require_about_for, require_future
from memories.domain.content import require_body
from memories.domain.reach import Reach
from memories.domain.save import Action, SaveResult
from memories.domain.wording import Wording
from memories.models import Wording as History
from memories.services import vectors
from memories.services.open import not_found
from memories.store import conflicts, memories
from memories.store.locks import owner_lock
from memories.store.rows import memory_object
from memories.store.scope_sql import in_scope
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.scope import Scope
from policies.domain.effective import EffectivePolicy

Changes = Mapping[str, Any]
"""The new values by field: content, type, confidence, metadata, title, summary, expires_at. A field left out stays."""


def edit(
    memory: UUID, changes: Changes, *, scope: Scope, policy: EffectivePolicy, now: datetime, actor: Actor
) -> SaveResult:
    """Applies `changes` to a live memory of the scope.

    Raises NotFound `memory_not_found`, or BadInput naming the rule a change breaks; nothing is changed then.
    """
    where = in_scope(Reach(scope), now=now)
    before = memories.read(memory, where=where)
    if before is None:
        raise not_found()
    changed = _admitted(before, changes, policy=policy, now=now)
    embedded = _text(changed) != _text(Wording.of_row(before))
    vector = vectors.for_passage(changed.content, title=changed.title) if embedded else None
    with transaction.atomic():
        owner_lock(scope)
        if memories.read(memory, where=where) is None:
            raise not_found()
        old = memories.wording_of(memory)
        new = _applied(old, changes, policy=policy, scope=scope, now=now)
        same = _text(new) == _text(old)
        usable = vector if _text(new) == _text(changed) else None
        change = memories.Change(History.Reason.EDITED.value, actor.name, now, keeps_vector=same)
        row = memories.replace(memory, new, vector=usable, embeds=vectors.follow_later(), change=change)
        if row is None:
            raise not_found()
        if new.content != old.content:
            conflicts.settle(memory)
        bodies = record.bodies(before=old.content, after=new.content)
        record.memory_updated(
            scope=scope, actor=actor, memory=memory, reason=History.Reason.EDITED.value, metadata=bodies
        )
    return SaveResult(memory=memory_object(row), action=Action.UPDATED)


def _admitted(before: Mapping[str, Any], changes: Changes, *, policy: EffectivePolicy, now: datetime) -> Wording:
    """The wording the changes would make, once they have passed the rules of a save."""
    scope = Scope(before["workspace_id"], before["user_id"], before["agent_id"])
    new = _applied(Wording.of_row(before), changes, policy=policy, scope=scope, now=now)
    if "type" in changes:
        policy.vocabulary.check_type(new.type, tier=scope.tier)
        require_about_for(new.type, about=before["about_key"], kinds=policy.dedup.require_about_for_kinds)
    if "content" in changes:
        require_body(new.content, max_bytes=policy.max_body_bytes)
    require_future(changes.get("expires_at"), now=now)
    return new


def _applied(old: Wording, changes: Changes, *, policy: EffectivePolicy, scope: Scope, now: datetime) -> Wording:
    """`old` with the changes; an expiry is settled by the policy, and null asks it for its default."""
    new = replace(old, **changes)
    if "expires_at" not in changes:
        return new
    expiry = policy.expiry.resolve(
        tier=scope.tier, category=old.consent_category, explicit=changes["expires_at"], now=now
    )
    return replace(new, expires_at=expiry)


def _text(wording: Wording) -> tuple[str | None, str]:
    return wording.title, wording.content
