"""Edit: a memory's words and attributes changed in place; what it said before stays in its history (design: PATCH)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from memories.domain.admission import require_about_for, require_future
from memories.domain.content import require_body
from memories.domain.reach import Reach
from memories.domain.save import Action, SaveResult
from memories.domain.wording import Wording, earlier
from memories.models import Wording as History
from memories.services import consent, vectors
from memories.services.open import not_found
from memories.store import conflicts, memories
from memories.store.locks import owner_lock
from memories.store.rows import memory_object
from memories.store.scope_sql import in_scope
from memories.store.vectors import ModelVector
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.scope import Scope
from policies.domain.effective import EffectivePolicy

Text = tuple[str | None, str]
"""What a vector is made of."""
_WORDS = frozenset({"content", "title", "summary", "metadata"})
Changes = Mapping[str, Any]
"""The new values by field: content, type, confidence, metadata, title, summary, expires_at. A field left out stays."""


def edit(
    memory: UUID, changes: Changes, *, scope: Scope, policy: EffectivePolicy, now: datetime, actor: Actor
) -> SaveResult:
    """Applies `changes` to a live memory of the scope.

    Raises NotFound `memory_not_found`, BadInput naming the rule a change breaks, or ConsentDenied and
    ConsentUnavailable where the person has not agreed to the new words; nothing is changed then.
    """
    before = memories.read(memory, where=in_scope(Reach(scope), now=now))
    if before is None:
        raise not_found()
    changed = _admitted(before, changes, policy=policy, now=now)
    with consent.told(scope, actor=actor):
        leave = _leave(changed, changes, scope=scope, policy=policy, actor=actor)
        embedded = _text(changed) != _text(Wording.of_row(before))
        vector = vectors.for_passage(changed.content, title=changed.title) if embedded else None
        with transaction.atomic():
            owner_lock(scope)
            if leave:
                leave.still_stands()
            edited = _Edit(memory, changes, scope=scope, policy=policy, now=now, actor=actor)
            row = edited.apply(vector, of=_text(changed))
    return SaveResult(memory=memory_object(row), action=Action.UPDATED)


@dataclass(frozen=True, slots=True)
class _Edit:
    """One edit inside its transaction, under the lock of its scope."""

    memory: UUID
    changes: Changes
    scope: Scope
    policy: EffectivePolicy
    now: datetime
    actor: Actor

    def apply(self, vector: ModelVector | None, *, of: Text) -> memories.Row:
        """The row as edited; `vector` is used where the memory still says the text it was made `of`."""
        if memories.read(self.memory, where=in_scope(Reach(self.scope), now=self.now)) is None:
            raise not_found()
        old = memories.wording_of(self.memory)
        new = _applied(old, self.changes, policy=self.policy, scope=self.scope, now=self.now)
        reason = History.Reason.EDITED.value
        change = memories.Change(reason, self.actor.name, self.now, keeps_vector=_text(new) == _text(old))
        usable = vector if _text(new) == of else None
        row = memories.replace(self.memory, new, vector=usable, embeds=vectors.follow_later(), change=change)
        if row is None:
            raise not_found()
        if new.content != old.content:
            conflicts.settle(self.memory)
        bodies = record.bodies(before=old.content, after=new.content)
        record.memory_updated(scope=self.scope, actor=self.actor, memory=self.memory, reason=reason, metadata=bodies)
        return row


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


def _leave(
    changed: Wording, changes: Changes, *, scope: Scope, policy: EffectivePolicy, actor: Actor
) -> consent.Leave | None:
    """The leave to keep the new words; an edit of other attributes needs none."""
    if _WORDS.isdisjoint(changes):
        return None
    return consent.leave(changed.consent_category, scope=scope, policy=policy, actor=actor)


def _applied(old: Wording, changes: Changes, *, policy: EffectivePolicy, scope: Scope, now: datetime) -> Wording:
    """`old` with the changes, its category told anew and its expiry settled by the policy.

    A null expiry asks for the default; a category that was raised never makes the memory last longer.
    """
    new = replace(old, **changes)
    if not _WORDS.isdisjoint(changes):
        category = consent.category_of(old.consent_category, new.texts(), scope=scope, policy=policy)
        new = replace(new, consent_category=category)
    raised = new.consent_category != old.consent_category
    if not raised and "expires_at" not in changes:
        return new
    settled = policy.expiry.resolve(
        tier=scope.tier, category=new.consent_category, explicit=changes.get("expires_at"), now=now
    )
    return replace(new, expires_at=settled if "expires_at" in changes else earlier(old.expires_at, settled))


def _text(wording: Wording) -> Text:
    return wording.title, wording.content
