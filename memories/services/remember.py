"""Remember: one memory saved, merged into its near-duplicate, or kept up to date under its key (spec: dedup, write).

The text is embedded before the transaction. Inside it the first statement takes the lock of the scope, so
that two writers of one new text see each other; then everything, the audit row included, stands or falls
together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db import transaction

from memories.domain.admission import admit
from memories.domain.conflict import differences
from memories.domain.consent import upward
from memories.domain.save import REASON, Action, Contradiction, Duplicate, SaveCommand, SaveResult
from memories.domain.wording import Wording, first, merged, restated
from memories.services import consent, vectors
from memories.services.compare import Compared, compared, mergeable, twins
from memories.store import conflicts, entities, memories
from memories.store.duplicates import Alike
from memories.store.locks import owner_lock
from memories.store.rows import memory_object
from memories.store.vectors import ModelVector
from omnia import metrics
from omnia.audit import record
from omnia.core.actor import Actor
from policies.domain.effective import EffectivePolicy


def remember(command: SaveCommand, *, policy: EffectivePolicy, now: datetime, actor: Actor) -> SaveResult:
    """Keeps one memory. Raises BadInput naming the rule a refused save breaks; nothing is stored then.

    Raises ConsentDenied or ConsentUnavailable where the person has not agreed.
    """
    with consent.told(command.scope, actor=actor):
        write = admitted(command, policy=policy, now=now, actor=actor)
        return keep(write, vector=vectors.for_passage(command.content, title=command.title))


def admitted(command: SaveCommand, *, policy: EffectivePolicy, now: datetime, actor: Actor) -> Write:
    """A save that passed the rules, its category told by its text and agreed to; raises as `remember` does."""
    category = consent.category_of(command.category, command.texts(), scope=command.scope, policy=policy)
    command = replace(command, category=category)
    expires_at = admit(command, policy=policy, now=now)
    leave = consent.leave(category, scope=command.scope, policy=policy, actor=actor)
    return Write(command, policy=policy, expires_at=expires_at, leave=leave, now=now, actor=actor)


def keep(write: Write, *, vector: ModelVector | None) -> SaveResult:
    """Writes a save that was admitted and embedded, in one transaction."""
    command, write = write.command, replace(write, vector=vector)
    with transaction.atomic():
        owner_lock(command.scope)
        if write.leave:
            write.leave.still_stands()
        written = write.under_its_key() if command.about else write.by_similarity()
    metrics.SAVES.labels(tier=command.scope.tier.value, action=written.action.value).inc()
    return SaveResult(
        memory=memory_object(written.row),
        action=written.action,
        supersedes=[written.row["id"]] if written.action in REASON else [],
        potential_duplicates=written.near,
        share=_UNSHARED if command.share else None,
        conflict=written.conflict,
    )


_UNSHARED = {"candidate_id": None, "status": "rejected", "reason": "share_disabled"}
"""Nothing is published here yet: the private copy stays, and the writer learns that it was not shared."""

_EVENT = {
    Action.ADDED: record.memory_created,
    Action.MERGED: record.memory_merged,
    Action.AUTO_SUPERSEDED: record.memory_updated,
}


@dataclass(frozen=True, slots=True)
class _Written:
    """What became of a save."""

    row: memories.Row
    action: Action
    near: Sequence[Duplicate] = ()
    conflict: Contradiction | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """One save that was admitted; its methods run inside the transaction, under the lock of its scope."""

    command: SaveCommand
    policy: EffectivePolicy
    expires_at: datetime | None
    leave: consent.Leave | None
    now: datetime
    actor: Actor
    vector: ModelVector | None = None

    def under_its_key(self) -> _Written:
        """Replaces the live memory of the same `about`, or adds the first."""
        assert self.command.about is not None  # noqa: S101 - the caller looked
        entity = entities.ensure(self.command.about, scope=self.command.scope)
        kept = entities.live_memory(entity, now=self.now)
        if kept is None:
            return _Written(self._add(entity=entity), Action.ADDED)
        old = memories.wording_of(kept)
        found = differences(old.content, self.command.content)
        conflict = Contradiction(kept, old.content, found) if found else None
        return self._replace(
            kept, old, restated(old, self.command, expires_at=self.expires_at), Action.AUTO_SUPERSEDED, conflict
        )

    def by_similarity(self) -> _Written:
        """Merges into the closest memory that is near enough, or adds a new one and names the near ones.

        With guarded merges one that contradicts the text is never merged into.
        """
        rules = self.policy.dedup
        near = compared(Alike.of(self.command), self.command.content, vector=self.vector, rules=rules, now=self.now)
        for closest in mergeable(near, rules=rules)[:1]:
            kept = closest.candidate.id
            old = memories.wording_of(kept)
            return self._replace(kept, old, self._merged(old), Action.MERGED, closest.as_contradiction())
        row = self._add(entity=None)
        self._note_neighbours(row["id"], near)
        return _Written(
            row,
            Action.ADDED,
            near=[each.as_duplicate() for each in near],
            conflict=next((each.as_contradiction() for each in twins(near, rules=rules)), None),
        )

    def _merged(self, old: Wording) -> Wording:
        """The reinforced wording; its expiry follows the category of the two sayings that needs more care."""
        tier, category = self.command.scope.tier, upward(old.consent_category, self.command.category)
        expiry = self.policy.expiry
        anew = expiry.resolve(tier=tier, category=category, explicit=self.command.expires_at, now=self.now)
        wording = merged(old, self.command, expires_at=anew)
        return replace(wording, expires_at=expiry.cap(wording.expires_at, tier=tier, category=category, now=self.now))

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

    def _replace(
        self, memory: UUID, old: Wording, wording: Wording, action: Action, conflict: Contradiction | None
    ) -> _Written:
        change = memories.Change(
            REASON[action], self.actor.name, self.now, said_again=True, reinforced=action is Action.MERGED
        )
        row = memories.replace(memory, wording, vector=self.vector, embeds=vectors.follow_later(), change=change)
        if row is None:
            raise LookupError("a memory locked and live is not there")
        if conflict:
            conflicts.note(memory, kinds=conflict.differences, now=self.now, wording=change.wording_id)
        self._audit(memory, action, before=old)
        return _Written(row, action, conflict=conflict)

    def _note_neighbours(self, memory: UUID, near: Sequence[Compared]) -> None:
        for each in near:
            if each.differences:
                conflicts.note(memory, kinds=each.differences, now=self.now, other=each.candidate.id)

    def _audit(self, memory: UUID, action: Action, *, before: Wording | None = None) -> None:
        _EVENT[action](
            scope=self.command.scope,
            actor=self.actor,
            memory=memory,
            reason=REASON.get(action, ""),
            metadata=record.bodies(before=before.content if before else None, after=self.command.content),
        )
