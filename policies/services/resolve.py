"""The policy in force for a service group (spec: How Policies Are Bound).

An outage of the policy store never blocks a save or a recall: the last good policy stands, else the
built-in defaults. A policy in phase `Error` leaves its last valid spec in force.
"""

from __future__ import annotations

from uuid import UUID

from django.conf import settings

from policies.domain.document import read_spec
from policies.domain.effective import EffectivePolicy, effective_policy
from policies.models import MemoryPolicy, ServiceGroup
from policies.services.fresh import Fresh


def policy_for(workspace: UUID, *, service_group: str) -> EffectivePolicy:
    """The rules of a service group, at most `OMNIA_POLICY_CACHE_SECONDS` old. Never raises on store trouble.

    A group that is unknown, binds no policy, or binds one that does not exist runs on the defaults.
    """
    return _policies.get((workspace, service_group))


def clear_cache() -> None:
    """The next `policy_for` in this process reads the store."""
    _policies.clear()


def load(key: tuple[UUID, str]) -> EffectivePolicy:
    """One reading of the store, past the cache."""
    workspace, service_group = key
    bound = ServiceGroup.objects.filter(workspace_id=workspace, name=service_group).values("policy_name")
    row = MemoryPolicy.objects.filter(name__in=bound).first()
    if row is None:
        return _no_policy()
    spec = row.spec if row.phase == MemoryPolicy.Phase.ACTIVE else row.last_valid_spec
    return effective_policy(
        None if spec is None else read_spec(spec),
        config=settings.OMNIA,
        name=row.name,
        generation=row.generation,
    )


def _no_policy() -> EffectivePolicy:
    return effective_policy(None, config=settings.OMNIA)


_policies: Fresh[tuple[UUID, str], EffectivePolicy] = Fresh(
    load, lifetime=lambda: settings.OMNIA.policy_cache_seconds, fallback=_no_policy
)
