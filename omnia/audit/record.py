"""Writing the audit trail: one cheap INSERT inside the transaction of the change it records.

One name per kind of event, so that an event's name and its facts are spelled in one place
(reference: Audit). Content never goes in; a subject goes in as a pseudonym.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

import orjson

from omnia.audit.pseudonym import fingerprint, pseudonym
from omnia.core.actor import Actor
from omnia.core.ids import uuid7
from omnia.core.scope import Scope
from omnia.db import execute

Facts = Mapping[str, Any]

_INSERT = """
INSERT INTO omnia_audit
    (id, event, workspace_id, actor, subject_hash, memory_id, request_id, ip, user_agent, reason, metadata)
VALUES (%(id)s, %(event)s, %(workspace)s, %(actor)s, %(subject)s, %(memory)s, %(request)s, %(ip)s::inet,
    %(user_agent)s, %(reason)s, %(metadata)s::jsonb)
"""


def record(
    event: str,
    *,
    workspace: UUID | None,
    actor: Actor,
    subject: str | None = None,
    memory: UUID | None = None,
    reason: str = "",
    metadata: Facts | None = None,
) -> None:
    """Writes one row in the caller's transaction; `subject` is stored as its pseudonym."""
    row = {
        "id": uuid7(),
        "event": event,
        "workspace": workspace,
        "actor": actor.name[:200],
        "subject": pseudonym(subject or ""),
        "memory": memory,
        "request": actor.request_id[:128],
        "ip": actor.ip,
        "user_agent": actor.user_agent[:200],
        "reason": reason[:200],
        "metadata": orjson.dumps(metadata or {}).decode(),
    }
    execute(_INSERT, row)


def bodies(*, before: str | None, after: str | None) -> dict[str, str]:
    """Which text gave way to which, as fingerprints: enough to prove what was there, not to read it."""
    texts = {"before": before, "after": after}
    return {name: fingerprint(text) for name, text in texts.items() if text is not None}


def _memory_event(
    event: str, /, *, scope: Scope, actor: Actor, memory: UUID | None, reason: str = "", metadata: Facts | None = None
) -> None:
    record(
        event,
        workspace=scope.workspace,
        actor=actor,
        subject=scope.user,
        memory=memory,
        reason=reason,
        metadata=metadata,
    )


def _removal_event(event: str, /, *, workspace: UUID, actor: Actor, deleted: Mapping[str, int]) -> None:
    """Of several memories at once, of whoever they were: `deleted` says how many of each tier."""
    record(event, workspace=workspace, actor=actor, metadata={"deleted": sum(deleted.values()), "tiers": dict(deleted)})


def _policy_event(event: str, /, *, actor: Actor, policy: str, metadata: Facts | None = None) -> None:
    record(event, workspace=None, actor=actor, metadata={"policy": policy, **(metadata or {})})


def _token_event(event: str, /, *, actor: Actor, token: UUID, metadata: Facts | None = None) -> None:
    record(event, workspace=None, actor=actor, metadata={"token": str(token), **(metadata or {})})


memory_created = partial(_memory_event, "memory_created")
"""A save stored a new memory."""
memory_updated = partial(_memory_event, "memory_updated")
"""A memory's wording or attributes were replaced."""
memory_merged = partial(_memory_event, "memory_merged")
"""A save reinforced a memory already there."""
memory_accessed = partial(_memory_event, "memory_accessed")
"""A memory was opened by its id."""
memory_deleted = partial(_memory_event, "memory_deleted")
"""A memory was forgotten."""
memory_exported = partial(_memory_event, "memory_exported")
"""Everything held on a user was handed out."""
memory_imported = partial(_memory_event, "memory_imported")
"""Memories written down elsewhere were saved for an owner."""
memory_expired = partial(_removal_event, "memory_expired")
"""Memories past their expiry were deleted."""
memory_purged = partial(_removal_event, "memory_purged")
"""Memories that lay in the trash long enough were deleted."""
memory_restored = partial(_memory_event, "memory_restored")
"""A memory was taken out of the trash."""
memory_write_blocked = partial(_memory_event, "memory_write_blocked", memory=None)
"""A save was refused; nothing was stored."""
memory_consent_prune = partial(_memory_event, "memory_consent_prune", memory=None)
"""A person took a consent back; what was kept under it was deleted unless the policy leaves it."""
relation_created = partial(_memory_event, "relation_created")
"""Two memories were related; the event's memory is the source."""
relation_changed = partial(_memory_event, "relation_changed")
"""A relation stated again took another weight or metadata."""
relation_deleted = partial(_memory_event, "relation_deleted")
"""A relation was removed."""
policy_created = partial(_policy_event, "policy_created")
"""A policy was made."""
policy_changed = partial(_policy_event, "policy_changed")
"""A policy's spec was replaced."""
policy_deleted = partial(_policy_event, "policy_deleted")
"""A policy was removed."""
token_created = partial(_token_event, "token_created")
"""An access token was made."""
token_revoked = partial(_token_event, "token_revoked")
"""An access token was withdrawn."""
