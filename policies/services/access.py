"""Which workspaces a caller may enter, and as what (design: Auth).

Without a role a workspace does not exist for the caller: unknown and forbidden answer alike, 404.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from omnia.api.principal import Principal, Role
from omnia.core.errors import Forbidden, NotFound
from policies import permissions
from policies.models import Workspace
from policies.services.fresh import Fresh

_REFERENCE = re.compile(r"[A-Za-z0-9.-]{1,253}", re.ASCII)
_UID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class OpenWorkspace:
    """A workspace the caller is in, and their role there."""

    uid: UUID
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class _Known:
    uid: UUID
    name: str


def open_workspace(principal: Principal, reference: str, *, at_least: Role) -> OpenWorkspace:
    """The workspace with this uid or name, for a caller whose role in it is `at_least` that.

    Raises NotFound `workspace_not_found` when there is none or the caller has no role in it, Forbidden
    `role_too_small` when the role does not suffice. A token costs one cached lookup.
    """
    known = _find(reference)
    role = _role_in(principal, known) if known else None
    if known is None or role is None:
        raise NotFound("There is no such workspace; name one by its uid or its name.", code="workspace_not_found")
    if role < at_least:
        detail = f"This needs the role {at_least.label} in the workspace; yours is {role.label}."
        raise Forbidden(detail, code="role_too_small")
    return OpenWorkspace(known.uid, known.name, role)


def visible_workspaces(principal: Principal) -> list[OpenWorkspace]:
    """Every workspace the caller has a role in, by name."""
    rows = list(Workspace.objects.order_by("name").values("uid", "name", "spec"))
    if principal.user is not None and not principal.platform_admin:
        specs = {row["uid"]: row["spec"] for row in rows if _served(_Known(row["uid"], row["name"]))}
        roles = _session_roles(principal, specs)
    else:
        known = [_Known(row["uid"], row["name"]) for row in rows]
        roles = {each.uid: role for each in known if (role := _standing_role(principal, each)) is not None}
    return [OpenWorkspace(row["uid"], row["name"], roles[row["uid"]]) for row in rows if row["uid"] in roles]


def clear_cache() -> None:
    """The next lookup of a workspace in this process reads the store."""
    _lookups.clear()


def _role_in(principal: Principal, known: _Known) -> Role | None:
    if principal.user is None or principal.platform_admin:
        return _standing_role(principal, known)
    specs = dict(Workspace.objects.filter(uid=known.uid).values_list("uid", "spec"))
    return _session_roles(principal, specs).get(known.uid)


def _standing_role(principal: Principal, known: _Known) -> Role | None:
    """The role of a platform admin or a token, which no workspace document can change."""
    if not _served(known):
        return None
    if principal.platform_admin:
        return Role.PLATFORM_ADMIN
    reaches = principal.workspaces is None or known.uid in principal.workspaces
    return principal.role if reaches else None


def _session_roles(principal: Principal, specs: dict[UUID, Any]) -> dict[UUID, Role]:
    return permissions.roles_of(cast(User, principal.user), workspaces=specs, now=timezone.now())


def _served(known: _Known) -> bool:
    """Whether this deployment serves the workspace: all, or the one `OMNIA_WORKSPACE` pins it to."""
    pinned: str = settings.OMNIA.workspace
    return not pinned or pinned in (known.name, str(known.uid))


def _find(reference: str) -> _Known | None:
    if not _REFERENCE.fullmatch(reference):
        return None
    known = _lookups.get(reference)
    if known is None:
        _lookups.forget(reference)  # a workspace made a moment later is found at once
        return None
    return known if _served(known) else None


def _look_up(reference: str) -> _Known | None:
    """By uid first, so that a workspace named like another's uid cannot stand in for it."""
    by_uid = Workspace.objects.filter(uid=reference) if _UID.fullmatch(reference) else Workspace.objects.none()
    return _first(by_uid) or _first(Workspace.objects.filter(name=reference))


def _first(rows: Iterable[Workspace]) -> _Known | None:
    return next((_Known(row.uid, row.name) for row in rows), None)


_lookups: Fresh[str, _Known | None] = Fresh(_look_up, lifetime=lambda: settings.OMNIA.policy_cache_seconds)
