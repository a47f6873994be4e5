"""The demo: a workspace with its policy and some memories of every tier, a user and a token for each role.

Made once. What an operator changed since is kept as it is, but for passwords and tokens that no longer
work: they are made to work again, for they are what the panel prints.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from memories.domain.about import About
from memories.domain.save import SaveCommand
from memories.services.remember import remember
from omnia.api.authentication import principal_of
from omnia.api.principal import Role
from omnia.api.tokens import NewToken, create_token
from omnia.core.actor import Actor
from omnia.core.scope import Scope
from omnia.db import advisory_lock
from omnia.quickstart.credentials import Credentials, DemoUser, DemoWorkspace
from policies.domain.manifest import load_documents
from policies.domain.plan import entries_of
from policies.models import MemoryPolicy, Workspace
from policies.services.apply import apply_documents
from policies.services.resolve import policy_for

NAME = "demo"
USERS = {"admin": Role.PLATFORM_ADMIN, "owner": Role.OWNER, "editor": Role.EDITOR, "viewer": Role.VIEWER}
TOKENS = {"admin": Role.PLATFORM_ADMIN, "owner": Role.OWNER, "viewer": Role.VIEWER}
_EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
_ACTOR = Actor(name="system:seed")


def ensure_demo(kept: Credentials) -> Credentials:
    """The demo's credentials, all of which work now; those in `kept` stay where they can. All or nothing."""
    now = timezone.now()
    with transaction.atomic():
        advisory_lock("seed")
        users = [_user(name, role, kept) for name, role in USERS.items()]
        workspace = _workspace(now)
        tokens = [(name, _token(name, role, kept, workspace, now)) for name, role in TOKENS.items()]
    return Credentials((DemoWorkspace(str(workspace), NAME),), tuple(users), tuple(tokens))


def _user(name: str, role: Role, kept: Credentials) -> DemoUser:
    password = kept.password(name) or secrets.token_urlsafe(12)
    user = User.objects.filter(username=name).first() or User(username=name)
    if user.pk is None or not (user.is_active and user.check_password(password)):
        user.is_active = True
        user.is_superuser = role is Role.PLATFORM_ADMIN
        user.set_password(password)
        user.save()
    return DemoUser(name, password, role.label)


def _workspace(now: datetime) -> UUID:
    if found := Workspace.objects.filter(name=NAME).first():
        return found.uid
    kinds = ["workspaces"] if MemoryPolicy.objects.filter(name=NAME).exists() else ["policies", "workspaces"]
    entries = [each for kind in kinds for each in entries_of(_documents(kind), origin=kind)]
    apply_documents(entries, actor=_ACTOR, now=now)
    uid = Workspace.objects.get(name=NAME).uid
    policy = policy_for(uid, service_group="default")
    for command in _memories(uid):
        remember(command, policy=policy, now=now, actor=_ACTOR)
    return uid


def _memories(workspace: UUID) -> Iterator[SaveCommand]:
    for item in _documents("memories")[0]:
        scope = Scope(workspace, item.pop("user", None), item.pop("agent", None))
        about = item.pop("about", None)
        yield SaveCommand(scope=scope, about=About.of(**about) if about else None, **item)


def _documents(kind: str) -> list[Any]:
    return load_documents((_EXAMPLES / kind / f"{NAME}.yaml").read_text(encoding="utf-8"))


def _token(name: str, role: Role, kept: Credentials, workspace: UUID, now: datetime) -> str:
    workspaces = None if role is Role.PLATFORM_ADMIN else frozenset({workspace})
    secret = kept.token(name)
    holder = principal_of(secret) if secret else None
    if secret and holder and (holder.role, holder.workspaces) == (role, workspaces):
        return secret
    wish = NewToken(name=f"demo {name}", role=role, workspaces=workspaces)
    return create_token(wish, actor=_ACTOR, now=now).secret
