"""Remember: one memory saved, merged into its near-duplicate, or kept up to date under its key (spec: dedup, write).

The text is embedded before the transaction. Inside it the first statement takes the lock of the scope, so
that two writers of one new text see each other; then everything, the audit row included, stands or falls
together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db import transaction

from memories.domain.admission import admit
from memories.domain.save import REASON, Action, Duplicate, SaveCommand, SaveResult
from memories.domain.similarity import reaches, similarity
from memories.domain.wording import Wording, first, merged, restated
from memories.services import vectors
from memories.store import entities, memories
from memories.store.duplicates import Candidate, nearest
from memories.store.locks import owner_lock
from memories.store.rows import memory_object
from memories.store.vectors import ModelVector
from omnia import metrics
from omnia.audit import record
from omnia.core.actor import Actor
from policies.domain.effective import EffectivePolicy


def remember(command: SaveCommand, *, policy: EffectivePolicy, now: datetime, actor: Actor) -> SaveResult:
    """Keeps one memory. Raises BadInput naming the rule a refused save breaks; nothing is stored then."""
    expires_at = admit(command, policy=policy, now=now)
    vector = vectors.for_passage(command.content, title=command.title)
    write = _Write(command, policy=policy, expires_at=expires_at, vector=vector, now=now, actor=actor)
    with transaction.atomic():
        owner_lock(command.scope)
        row, action, near = write.under_its_key() if command.about else write.by_similarity()
    metrics.SAVES.labels(tier=command.scope.tier.value, action=action.value).inc()
    return SaveResult(
        memory=memory_object(row),
        action=action,
        supersedes=[row["id"]] if action in REASON else [],
        potential_duplicates=near,
        share=_UNSHARED if command.share else None,
    )


_UNSHARED = {"candidate_id": None, "status": "rejected", "reason": "share_disabled"}
"""Nothing is published here yet: the private copy stays, and the writer learns that it was not shared."""

_Written = tuple[memories.Row, Action, list[Duplicate]]
_EVENT = {
    Action.ADDED: record.memory_created,
    Action.MERGED: record.memory_merged,
    Action.AUTO_SUPERSEDED: record.memory_updated,
}


@dataclass(frozen=True, slots=True)
class _Write:
    """One save inside its transaction, under the lock of its scope."""

    command: SaveCommand
    policy: EffectivePolicy
    expires_at: datetime | None
    vector: ModelVector | None
    now: datetime
    actor: Actor

    def under_its_key(self) -> _Written:
        """Replaces the live memory of the same `about`, or adds the first."""
        assert self.command.about is not None  # noqa: S101 - the caller looked
        entity = entities.ensure(self.command.about, scope=self.command.scope)
        kept = entities.live_memory(entity, now=self.now)
        if kept is None:
            return self._add(entity=entity), Action.ADDED, []
        old = memories.wording_of(kept)
        newer = restated(old, self.command, expires_at=self.expires_at)
        return self._replace(kept, newer, Action.AUTO_SUPERSEDED), Action.AUTO_SUPERSEDED, []

    def by_similarity(self) -> _Written:
        """Merges into the closest memory that is near enough, or adds a new one and names the near ones."""
        rules = self.policy.dedup
        candidates = self._compared()
        if candidates and reaches(candidates[0].distance, threshold=rules.auto_supersede_above):
            closest = candidates[0].id
            return self._replace(closest, self._merged(closest), Action.MERGED), Action.MERGED, []
        near = [each for each in candidates if reaches(each.distance, threshold=rules.surface_duplicates_above)]
        return self._add(entity=None), Action.ADDED, [_duplicate(each) for each in near]

    def _compared(self) -> list[Candidate]:
        """What the save is compared with: nothing when comparing is off or there is no vector."""
        if not self.policy.dedup.enabled or self.vector is None:
            return []
        limit = self.policy.dedup.candidate_limit
        return nearest(self.command, vector=self.vector, candidates=limit, now=self.now)

    def _merged(self, memory: UUID) -> Wording:
        wording = merged(memories.wording_of(memory), self.command, expires_at=self.expires_at)
        expiry = self.policy.expiry.cap(
            wording.expires_at, tier=self.command.scope.tier, category=wording.consent_category, now=self.now
        )
        return replace(wording, expires_at=expiry)

    def _add(self, *, entity: UUID | None) -> memories.Row:
        row = memories.insert(
            first(self.command, expires_at=self.expires_at),
            scope=self.command.scope,
            provenance=self.command.provenance,
            container=self.command.container,
            entity=entity,
            vector=self.vector,
            embeds=vectors.follow_later(),
            now=self.now,
        )
        self._audit(row["id"], Action.ADDED)
        return row

    def _replace(self, memory: UUID, wording: Wording, action: Action) -> memories.Row:
        change = memories.Change(
            REASON[action], self.actor.name, self.now, said_again=True, reinforced=action is Action.MERGED
        )
        row = memories.replace(memory, wording, vector=self.vector, embeds=vectors.follow_later(), change=change)
        if row is None:
            raise LookupError("a memory locked and live is not there")
        self._audit(memory, action)
        return row

    def _audit(self, memory: UUID, action: Action) -> None:
        _EVENT[action](scope=self.command.scope, actor=self.actor, memory=memory, reason=REASON.get(action, ""))


def _duplicate(candidate: Candidate) -> Duplicate:
    return Duplicate(candidate.id, candidate.content, similarity(candidate.distance))
