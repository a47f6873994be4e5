"""Who sits in front of the dashboard, and in which of their workspaces (design: Auth).

The workspace is remembered in the session. It is looked up anew for each request among the ones the
person may see now, so that a role taken away is gone with the next click.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.contrib.auth.models import AbstractUser
from django.http import HttpRequest

from omnia.api.authentication import principal_of_user
from omnia.api.principal import Principal, Role
from omnia.core.actor import Actor
from policies.services.access import OpenWorkspace, visible_workspaces

_REMEMBERED = "workspace"


@dataclass(frozen=True, slots=True)
class Desk:
    """One request's person, place and moment (`now` is UTC). `workspace` is None for who may see none."""

    principal: Principal
    actor: Actor
    workspaces: list[OpenWorkspace]
    workspace: OpenWorkspace | None
    now: datetime

    @property
    def owns(self) -> bool:
        """Whether they own the workspace: its owners read its trail, and deal with its tokens and members."""
        return self.workspace is not None and self.workspace.role >= Role.OWNER


def desk_of(request: HttpRequest, *, user: AbstractUser) -> Desk:
    """The desk of a signed-in user: the remembered workspace, else the first they may see."""
    principal = principal_of_user(user)
    workspaces = visible_workspaces(principal)
    remembered = request.session.get(_REMEMBERED)
    first = workspaces[0] if workspaces else None
    return Desk(
        principal=principal,
        actor=_actor(request, principal),
        workspaces=workspaces,
        workspace=next((each for each in workspaces if str(each.uid) == remembered), first),
        now=datetime.now(UTC),
    )


def remember_workspace(request: HttpRequest, workspace: UUID) -> None:
    """Makes `workspace` the one the next pages show."""
    request.session[_REMEMBERED] = str(workspace)


def _actor(request: HttpRequest, principal: Principal) -> Actor:
    return Actor(
        name=principal.name,
        request_id=getattr(request, "request_id", ""),
        ip=request.META.get("REMOTE_ADDR") or None,
        user_agent=request.headers.get("User-Agent", "")[:200],
    )
