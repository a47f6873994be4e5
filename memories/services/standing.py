"""Who may change a memory: editors those of users, owners the shared ones too (design: Roles)."""

from __future__ import annotations

from omnia.api.principal import Role
from omnia.core.errors import Forbidden
from omnia.core.scope import Tier


def may_change(tier: Tier, *, role: Role) -> bool:
    """Whether somebody of this role in the workspace saves, edits, forgets and restores memories of the tier."""
    return role >= (Role.OWNER if tier.shared else Role.EDITOR)


def refusal(tier: Tier, *, role: Role) -> Forbidden | None:
    """Why somebody of this role may not change memories of the tier; None where they may."""
    if may_change(tier, role=role):
        return None
    whose = "Shared memories are changed by owners" if tier.shared else "Memories are changed by editors and owners"
    return Forbidden(f"{whose} of the workspace.", code="role_too_small")
