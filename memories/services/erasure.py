"""Erasure: everything held on a person goes, and it can be shown (reference: erasure).

The order is written down first and names the person until they are gone; every step after it is a transaction
that deletes and counts at once, so that an erasure killed anywhere goes on where it stood. All there is when
a step looks goes, what arrives while the erasure runs included. The end waits until no request that began
before it can still be writing, and is a scan of every table that names persons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from memories.services import suppression
from memories.services.suppression import Suppression
from memories.store import embedding_models, erasures
from memories.store.erasures import Whose
from memories.store.locks import owner_lock
from omnia.api import idempotency, tokens
from omnia.audit import record
from omnia.audit.pseudonym import suppression_hash
from omnia.core.actor import Actor
from omnia.core.errors import BadInput, NotFound
from omnia.core.scope import Scope
from omnia.db import rewrite_tables

BATCH = 1000
_SAVE_TAKES = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Certificate:
    """How far an erasure is, and what it removed. It names nobody."""

    id: UUID
    workspace: UUID | None
    status: str
    requested_at: datetime
    completed_at: datetime | None
    removed: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        done = self.status != "running"
        return {
            "id": self.id,
            "status": self.status,
            "workspace_id": self.workspace,
            "requested_at": self.requested_at,
            "completed_at": self.completed_at,
            "removed": self.removed,
            "nothing_matched": done and not any(self.removed.values()),
            "rows_left": 0 if done else None,
        }


def request_erasure(person: str, *, workspace: UUID | None, actor: Actor, before: datetime | None = None) -> UUID:
    """Orders the erasure of a person in a workspace, or everywhere; one that already runs is joined.

    `before` spares what was made later. Raises BadInput `user_required` for nobody.
    """
    if not person:
        raise BadInput("Name the user to erase.", code="user_required")
    with transaction.atomic():
        whose = Whose(person, workspace, before)
        return erasures.order(whose, subject_hash=suppression_hash(person), requested_by=actor.name)


def certificate(erasure: UUID) -> Certificate:
    """Raises NotFound `erasure_not_found`."""
    row = erasures.read(erasure)
    if row is None:
        raise NotFound("There is no such erasure.", code="erasure_not_found")
    return Certificate(
        id=row["id"],
        workspace=row["workspace_id"],
        status=row["status"],
        requested_at=row["requested_at"],
        completed_at=row["completed_at"],
        removed=row["removed"],
    )


def carry_out_all() -> int:
    """Takes every erasure as far as it goes now; how many were completed. Safe beside itself, and after a crash."""
    return sum(carry_out(erasure) for erasure in erasures.unfinished())


def replay(suppressions: Sequence[Suppression], *, actor: Actor) -> int:
    """Erases again who is on the list and here, up to when they were erased; how many persons that were.

    The list becomes part of this database's own.
    """
    found = list(suppression.found(suppressions))
    for person, entry in found:
        erasure = request_erasure(person, workspace=entry.workspace, actor=actor, before=entry.erased_at)
        while not carry_out(erasure):
            pass
    for each in suppressions:
        erasures.note_suppression(each.subject_hash, workspace=each.workspace, erased_at=each.erased_at, by=actor.name)
    return len({person for person, _ in found})


def carry_out(erasure: UUID) -> bool:
    """Takes one erasure as far as it goes now; True when this call completed it."""
    while _delete_some(erasure):
        pass
    _finish(erasure)
    return _complete(erasure)


def settles_after() -> timedelta:
    """How long a request that began before the order may still be writing: as long as its text is embedded.

    During a change of the model that is twice, and the one in use may be far away though the one named is not.
    """
    embedding, found = settings.OMNIA.embedding, embedding_models.in_force()
    asked = [embedding, *(turn.config for turn in (found.used, found.beside) if turn)] if found else [embedding]
    far = min(2, sum(each.remote for each in asked))
    return far * timedelta(seconds=embedding.timeout_seconds) + _SAVE_TAKES


def _delete_some(erasure: UUID) -> bool:
    """One batch of the person's memories in one workspace; False when there are none, or another is at it."""
    with transaction.atomic():
        row = erasures.claim(erasure, status="running")
        if row is None:
            return False
        whose = _whose(row)
        workspace, memories = erasures.some_memories(whose, limit=BATCH)
        if workspace is None:
            return False
        owner_lock(Scope(workspace, whose.subject))
        erasures.add_removed(erasure, erasures.delete_memories(memories))
    return True


def _finish(erasure: UUID) -> None:
    """The rest under the person's id; and once no earlier request can write, the scan that ends the erasure."""
    with transaction.atomic():
        row = erasures.claim(erasure, status="running")
        if row is None:
            return
        whose = _whose(row)
        counts = erasures.delete_rest(whose)
        counts["kept_answers"] = idempotency.drop_answers(workspace=whose.workspace, subject=whose.subject)
        counts["tokens"] = 0 if whose.workspace else tokens.delete_bound(whose.subject, before=whose.before)
        erasures.add_removed(erasure, counts)
        writing = whose.before is None and row["age"] < settles_after()
        if writing or erasures.left(whose):
            return
        erasures.set_erased(erasure)
        _record(whose, erasure=erasure, by=row["requested_by"])


def _complete(erasure: UUID) -> bool:
    """What the database's own files and statistics still hold of the deleted rows goes as well, where that is set."""
    row = erasures.read(erasure)
    if row is None or row["status"] != "erased":
        return False
    suppression.append(row)
    rewrite_tables(erasures.REWRITTEN, whole=settings.OMNIA.erasure_scrub)
    with transaction.atomic():
        return erasures.set_completed(erasure)


def _record(whose: Whose, *, erasure: UUID, by: str) -> None:
    row = erasures.read(erasure) or {}
    record.record(
        "subject_erased",
        workspace=whose.workspace,
        actor=Actor(by),
        subject=whose.subject,
        metadata={"erasure": str(erasure), "removed": row.get("removed", {})},
    )


def _whose(row: dict[str, Any]) -> Whose:
    return Whose(row["subject"], row["workspace_id"], row["before"])
