"""Who has which role in a workspace, as its owners change it: single people by name (reference: Roles)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from omnia.api.principal import Principal, Role
from omnia.core.actor import Actor
from omnia.core.errors import BadInput, NotFound
from policies.models import Workspace
from policies.services.access import OpenWorkspace, open_workspace
from policies.services.wire import etag
from policies.services.workspaces import patch_workspace

Grant = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Members:
    """The grants of a workspace's document: single people's, and groups'."""

    people: list[Grant]
    groups: list[Grant]


def members_of(workspace: OpenWorkspace) -> Members:
    """As the document has them; empty for a workspace that is gone."""
    row = Workspace.objects.filter(uid=workspace.uid).first()
    spec = row.spec if row else {}
    return Members(people=list(spec.get("directGrants", ())), groups=list(spec.get("roleBindings", ())))


def grant_role(
    user: str,
    role: Role,
    *,
    expires: datetime | None,
    workspace: str,
    principal: Principal,
    actor: Actor,
    now: datetime,
) -> None:
    """Gives a person a role in a workspace the caller owns, instead of the one they were given before.

    Raises NotFound, Forbidden `role_too_small`, BadInput `invalid_role`, or Unprocessable for a name that is none.
    """
    if role is Role.PLATFORM_ADMIN:
        raise BadInput("A workspace grants the roles owner, editor and viewer.", code="invalid_role")
    grant: Grant = {"user": user, "role": role.label}
    if expires:
        grant["expires"] = expires.strftime("%Y-%m-%dT%H:%M:%SZ")
    _change(
        lambda people: [*(each for each in people if each["user"] != user), grant],
        workspace=workspace,
        principal=principal,
        actor=actor,
        now=now,
    )


def withdraw_role(user: str, *, workspace: str, principal: Principal, actor: Actor, now: datetime) -> None:
    """Takes a person's own grant away; what a group gives them stays. Raises NotFound `grant_not_found`."""

    def without(people: list[Grant]) -> list[Grant]:
        left = [each for each in people if each["user"] != user]
        if len(left) == len(people):
            raise NotFound("This person has no grant of their own here.", code="grant_not_found")
        return left

    _change(without, workspace=workspace, principal=principal, actor=actor, now=now)


def _change(
    change: Callable[[list[Grant]], list[Grant]], *, workspace: str, principal: Principal, actor: Actor, now: datetime
) -> None:
    known = open_workspace(principal, workspace, at_least=Role.OWNER)
    row = Workspace.objects.filter(uid=known.uid).first()
    if row is None:
        raise NotFound("There is no such workspace.", code="workspace_not_found")
    people = change(list(row.spec.get("directGrants", ())))
    patch_workspace(row.name, {"spec": {"directGrants": people or None}}, actor=actor, now=now, expected=etag(row))
