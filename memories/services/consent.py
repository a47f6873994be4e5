"""Consent: a person's memory is kept only in categories they agreed to (spec: consentRevocation; reference: Consent).

The category is told by the text where the writer did not say enough. The privacy service is asked before the
text goes anywhere, outside the transaction; whether the person took the category back is looked up under the
owner's lock, so that a save never slips past a revocation that was answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from memories.clients.privacy import privacy_service
from memories.domain.consent import CATEGORIES, EVERYTHING_GRANTED, Preferences, Refusal, refusal
from memories.domain.sensitive import classified
from memories.store import revocations
from omnia import metrics
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.edition import Edition
from omnia.core.errors import Forbidden, Unavailable
from omnia.core.scope import Scope
from policies.domain.effective import EffectivePolicy
from policies.models import Workspace


@dataclass(frozen=True, slots=True)
class Leave:
    """A person's leave to keep memories of a category; `granted_at` None when nobody says since when."""

    scope: Scope
    category: str
    granted_at: datetime | None

    def still_stands(self) -> None:
        """Under the owner's lock. Raises ConsentDenied when the person took it back since."""
        revoked_at = revocations.revoked_at(self.category, scope=self.scope)
        if revoked_at and (self.granted_at is None or self.granted_at <= revoked_at):
            raise ConsentDenied(self.category, Refusal.REVOKED)


class ConsentDenied(Forbidden):
    """The person has not agreed; nothing is stored."""

    def __init__(self, category: str | None, reason: Refusal) -> None:
        self.category, self.reason = category or "none", reason
        super().__init__(
            f"The user has not agreed to keep this ({self.category}: {reason}); ask them, then save it again.",
            code="consent_denied",
            headers={"X-Consent-Decision": f"deny; category={self.category}; layer=persistent; reason={reason}"},
        )


class ConsentUnavailable(Unavailable):
    """Nobody could say whether the person agreed; nothing is stored."""

    reason = Refusal.UNKNOWN

    def __init__(self, category: str | None) -> None:
        self.category = category or "none"
        super().__init__(
            "The privacy service does not answer, and this category needs the user's grant; try again.",
            code="consent_unavailable",
            headers={"Retry-After": "2"},
        )


def category_of(
    stated: str | None, texts: Iterable[str | None], *, scope: Scope, policy: EffectivePolicy
) -> str | None:
    """The category of a memory that says `texts`: never less sensitive than its writer stated.

    One that is not known stays as it is, for the rule that refuses it.
    """
    if not _asks(scope, policy) or (stated is not None and stated not in CATEGORIES):
        return stated
    return classified(stated, filter(None, texts))


def leave(category: str | None, *, scope: Scope, policy: EffectivePolicy, actor: Actor) -> Leave | None:
    """The leave to keep a memory of this category; None where none is needed.

    Raises ConsentDenied, or Unavailable `consent_unavailable` when the category needs a grant and the privacy
    service cannot say.
    """
    if scope.user is None or not _asks(scope, policy):
        return None
    service = privacy_service()
    preferences = service.preferences(scope.user) if service else EVERYTHING_GRANTED
    out = preferences is not None and _opted_out(preferences, scope)
    reason = refusal(category, preferences=preferences, vouched=actor.consents, out=out)
    if reason is Refusal.UNKNOWN:
        raise ConsentUnavailable(category)
    if reason:
        raise ConsentDenied(category, reason)
    if category is None:
        return None
    return Leave(scope, category, preferences.granted_at(category) if preferences else None)


@contextmanager
def told(scope: Scope, *, actor: Actor) -> Iterator[None]:
    """Counts and records a write that is refused for want of consent; around the transaction, so that it stays."""
    try:
        yield
    except (ConsentDenied, ConsentUnavailable) as refused:
        metrics.SUPPRESSED.labels(category=refused.category, reason=refused.reason.value).inc()
        facts = {"category": refused.category}
        record.memory_write_blocked(scope=scope, actor=actor, reason=refused.reason.value, metadata=facts)
        raise


def _asks(scope: Scope, policy: EffectivePolicy) -> bool:
    """Only persons' memories are asked about, in the edition that knows of consent."""
    return scope.user is not None and policy.edition is Edition.ENTERPRISE


def _opted_out(preferences: Preferences, scope: Scope) -> bool:
    names = [str(scope.workspace)]
    if preferences.opted_out_workspaces:
        names += Workspace.objects.filter(uid=scope.workspace).values_list("name", flat=True)
    return preferences.opts_out(workspace_names=names, agent=scope.agent)
