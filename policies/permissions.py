"""Roles in a workspace, kept as object permissions. The only importer of guardian.

A Workspace's `roleBindings` and `directGrants` are the truth; the permissions are their index. Global
permissions never count (they would reach every tenant), and a direct grant counts only until it expires.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from guardian.models import GroupObjectPermission, UserObjectPermission

from omnia.api.moments import parse_moment
from omnia.api.principal import Role
from policies.models import Workspace

_CODENAMES = {f"workspace_{role.label}": role for role in (Role.OWNER, Role.EDITOR, Role.VIEWER)}


def sync_workspace(workspace: Workspace) -> None:
    """Makes the workspace's object permissions what its spec says, in the caller's transaction.

    Groups are made as needed. A grant to a user who does not exist waits for their account (`user_saved`).
    """
    clear_workspace(workspace)
    bound = {(group, each["role"]) for each in workspace.spec.get("roleBindings", ()) for group in each["groups"]}
    granted = {(each["user"], each["role"]) for each in workspace.spec.get("directGrants", ())}
    groups = _groups({name for name, _ in bound})
    users = {user.username: user for user in User.objects.filter(username__in={name for name, _ in granted})}
    permission = _permissions()
    target = {"content_type": _content_type(), "object_pk": str(workspace.pk)}
    GroupObjectPermission.objects.bulk_create(
        GroupObjectPermission(group=groups[name], permission=permission[role], **target) for name, role in sorted(bound)
    )
    UserObjectPermission.objects.bulk_create(
        UserObjectPermission(user=users[name], permission=permission[role], **target)
        for name, role in sorted(granted)
        if name in users
    )


def sync_user(user: User) -> None:
    """Gives a new user the direct grants that were waiting for them."""
    permission = _permissions()
    for workspace in Workspace.objects.filter(spec__directGrants__contains=[{"user": user.username}]):
        for role in {each["role"] for each in workspace.spec["directGrants"] if each["user"] == user.username}:
            UserObjectPermission.objects.get_or_create(
                user=user, permission=permission[role], content_type=_content_type(), object_pk=str(workspace.pk)
            )


def user_saved(instance: User, created: bool, raw: bool, **_facts: Any) -> None:
    """Answers Django's `post_save`: a new account has its grants at once. A fixture (`raw`) brings its own rows."""
    if created and not raw:
        sync_user(instance)


def clear_workspace(workspace: Workspace) -> None:
    """Removes every object permission of the workspace; nothing else would when it is deleted."""
    for model in (UserObjectPermission, GroupObjectPermission):
        model.objects.filter(content_type=_content_type(), object_pk=str(workspace.pk)).delete()


def roles_of(user: User, *, workspaces: Mapping[UUID, Mapping[str, Any]], now: datetime) -> dict[UUID, Role]:
    """The user's greatest role in each of `workspaces` (uid to spec) in which they have one."""
    if not user.is_active:
        return {}
    best: dict[UUID, Role] = {}
    for uid, role in (*_by_group(user, workspaces), *_by_grant(user, workspaces, now)):
        best[uid] = max(role, best.get(uid, role))
    return best


def _by_group(user: User, workspaces: Iterable[UUID]) -> Iterator[tuple[UUID, Role]]:
    return _held(GroupObjectPermission.objects.filter(group__user=user), workspaces)


def _by_grant(user: User, workspaces: Mapping[UUID, Mapping[str, Any]], now: datetime) -> Iterator[tuple[UUID, Role]]:
    for uid, role in _held(UserObjectPermission.objects.filter(user=user), workspaces):
        grants = workspaces[uid].get("directGrants", ())
        if any(_gives(grant, user.username, role, now) for grant in grants):
            yield uid, role


def _gives(grant: Mapping[str, Any], username: str, role: Role, now: datetime) -> bool:
    expires = grant.get("expires")
    unexpired = expires is None or now < parse_moment(expires)
    return unexpired and grant["user"] == username and grant["role"] == role.label


def _held(permissions: Any, workspaces: Iterable[UUID]) -> Iterator[tuple[UUID, Role]]:
    rows = permissions.filter(
        content_type=_content_type(),
        object_pk__in=[str(uid) for uid in workspaces],
        permission__codename__in=list(_CODENAMES),
    )
    for object_pk, codename in rows.values_list("object_pk", "permission__codename"):
        yield UUID(object_pk), _CODENAMES[codename]


def _permissions() -> dict[str, Permission]:
    """Role label to the permission that stands for it."""
    found = Permission.objects.filter(content_type=_content_type(), codename__in=list(_CODENAMES))
    return {_CODENAMES[each.codename].label: each for each in found}


def _groups(names: set[str]) -> dict[str, Group]:
    """The groups of these names, made where they are missing."""
    Group.objects.bulk_create([Group(name=name) for name in sorted(names)], ignore_conflicts=True)
    return {group.name: group for group in Group.objects.filter(name__in=names)}


def _content_type() -> ContentType:
    return ContentType.objects.get_for_model(Workspace)
