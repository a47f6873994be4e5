"""Revoke: a person takes a consent category back (spec: consentRevocation)."""

from __future__ import annotations

from django.db import transaction

from memories.domain.admission import require_category
from memories.domain.retention import Cause
from memories.store import removal, retention, revocations
from memories.store.locks import owner_lock
from omnia.api import idempotency
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.scope import Scope
from omnia.db import database_time
from policies.domain.document import RevocationAction
from policies.domain.effective import EffectivePolicy


def revoke(category: str, *, scope: Scope, policy: EffectivePolicy, actor: Actor) -> int:
    """Remembers that the user of `scope` took the category back, and answers how many memories were deleted.

    With the action `Stop` nothing is deleted; in each case later writes in the category are refused until a newer
    grant. Whatever the agent, all of the user's memories in the workspace count. Raises BadInput `category_unknown`.
    """
    require_category(category)
    action, deleted = policy.consent_revocation.action, 0
    with transaction.atomic():
        owner_lock(scope)
        revocations.note(category, scope=scope)
        if action is not RevocationAction.STOP and scope.user:
            removed = removal.delete_category(scope, category=category)
            retention.add(removed, cause=Cause.CONSENT_REVOKED, now=database_time())
            deleted = removed.total()
            idempotency.drop_answers(workspace=scope.workspace, subject=scope.user)
        facts = {"category": category, "action": action.value, "deleted": deleted}
        record.memory_consent_prune(scope=scope, actor=actor, reason="consent_revoked", metadata=facts)
    return deleted
