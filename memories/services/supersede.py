"""Supersede: one text in the place of several memories (design: POST /memories/supersede).

It lands on the first of them, whose earlier wording goes to its history; the others are retired and point to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.db import transaction

from memories.domain.admission import require_about_for
from memories.domain.content import require_body
from memories.domain.save import REASON, Action, SaveResult, SupersedeCommand
from memories.domain.wording import Wording, drawn_together
from memories.services import consent, vectors
from memories.store import conflicts, memories, removal
from memories.store.locks import owner_lock
from memories.store.rows import memory_object
from omnia import metrics
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.errors import NotFound
from policies.domain.effective import EffectivePolicy


def supersede(command: SupersedeCommand, *, policy: EffectivePolicy, now: datetime, actor: Actor) -> SaveResult:
    """Replaces the live memories `command.source_ids` of its scope by one text.

    Raises NotFound `memory_not_found` when any of them is not a live memory of the scope, BadInput naming the
    rule the text breaks, or ConsentDenied and ConsentUnavailable; nothing is changed then.
    """
    with consent.told(command.scope, actor=actor):
        row = _superseded(command, policy=policy, now=now, actor=actor)
    metrics.SAVES.labels(tier=command.scope.tier.value, action=Action.SUPERSEDED.value).inc()
    return SaveResult(memory_object(row), Action.SUPERSEDED, supersedes=command.source_ids)


def _superseded(command: SupersedeCommand, *, policy: EffectivePolicy, now: datetime, actor: Actor) -> memories.Row:
    before = _sources(command, now=now)
    _admit(before[0], command, policy=policy)
    category = _wording(before, command, policy=policy, now=now).consent_category
    leave = consent.leave(category, scope=command.scope, policy=policy, actor=actor)
    title = before[0]["title"]
    vector = vectors.for_passage(command.content, title=title)
    with transaction.atomic():
        owner_lock(command.scope)
        if leave:
            leave.still_stands()
        sources = _sources(command, now=now)
        old = sources[0]
        same = old["title"] == title
        row = memories.replace(
            old["id"],
            _wording(sources, command, policy=policy, now=now),
            vector=vector if same else None,
            embeds=vectors.follow_later(),
            change=memories.Change(REASON[Action.SUPERSEDED], actor.name, now, said_again=True),
        )
        if row is None:
            raise LookupError("a memory locked and live is not there")
        removal.retire_superseded([source["id"] for source in sources[1:]], by=old["id"], now=now)
        conflicts.settle(old["id"])
        _audit(sources, command, actor=actor)
    return row


def not_in_scope() -> NotFound:
    """One answer for a source that is not there and one that is not yours."""
    return NotFound("A source was not found in scope; nothing was changed.", code="memory_not_found")


def _sources(command: SupersedeCommand, *, now: datetime) -> list[memories.Row]:
    """The rows of the sources in the order they were named, locked where a transaction is open."""
    rows = {row["id"]: row for row in memories.sources(command.source_ids, scope=command.scope, now=now)}
    if len(rows) < len(command.source_ids):
        raise not_in_scope()
    return [rows[source] for source in command.source_ids]


def _admit(first: memories.Row, command: SupersedeCommand, *, policy: EffectivePolicy) -> None:
    require_body(command.content, max_bytes=policy.max_body_bytes)
    if command.type is not None:
        policy.vocabulary.check_type(command.type, tier=command.scope.tier)
        require_about_for(command.type, about=first["entity_id"], kinds=policy.dedup.require_about_for_kinds)


def _wording(
    sources: Sequence[memories.Row], command: SupersedeCommand, *, policy: EffectivePolicy, now: datetime
) -> Wording:
    wording = drawn_together([Wording.of_row(row) for row in sources], command)
    scope = command.scope
    category = consent.category_of(wording.consent_category, wording.texts(), scope=scope, policy=policy)
    expires_at = policy.expiry.cap(wording.expires_at, tier=scope.tier, category=category, now=now)
    return replace(wording, expires_at=expires_at, consent_category=category)


def _audit(sources: Sequence[memories.Row], command: SupersedeCommand, *, actor: Actor) -> None:
    target: UUID = sources[0]["id"]
    for source in sources:
        facts = record.bodies(before=source["content"], after=command.content)
        record.memory_updated(
            scope=command.scope,
            actor=actor,
            memory=source["id"],
            reason=REASON[Action.SUPERSEDED],
            metadata=facts if source["id"] == target else facts | {"superseded_by": str(target)},
        )
