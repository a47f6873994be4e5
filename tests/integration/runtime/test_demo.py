"""The demo is made once; what the panel prints always works."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import authenticate
from django.utils import timezone

from memories.models import Memory
from omnia.api.authentication import principal_of, principal_of_user
from omnia.api.principal import Role
from omnia.api.tokens import revoke_token
from omnia.core.actor import Actor
from omnia.core.scope import Tier
from omnia.quickstart.credentials import Credentials
from omnia.quickstart.demo import NAME, ensure_demo
from policies.models import MemoryPolicy, ServiceGroup, Workspace
from policies.services import access, resolve

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    access.clear_cache()
    resolve.clear_cache()


def test_a_workspace_with_a_valid_policy_and_memories_of_every_tier() -> None:
    made = ensure_demo(Credentials())
    assert [(each.uid, each.name) for each in made.workspaces] == [(str(Workspace.objects.get().uid), NAME)]
    assert MemoryPolicy.objects.get(name=NAME).phase == MemoryPolicy.Phase.ACTIVE
    assert ServiceGroup.objects.get().policy_name == NAME
    assert set(Memory.objects.values_list("tier", flat=True)) == {tier.code for tier in Tier}


@pytest.mark.parametrize(
    ("username", "role"),
    [
        ("admin", Role.PLATFORM_ADMIN),
        ("owner", Role.OWNER),
        ("editor", Role.EDITOR),
        ("viewer", Role.VIEWER),
    ],
)
def test_every_user_signs_in_with_their_role(username: str, role: Role) -> None:
    made = ensure_demo(Credentials())
    user = authenticate(username=username, password=made.password(username))
    assert user is not None
    assert access.open_workspace(principal_of_user(user), NAME, at_least=Role.VIEWER).role is role
    assert {each.username: each.role for each in made.users}[username] == role.label


@pytest.mark.parametrize(
    ("name", "role"), [("admin", Role.PLATFORM_ADMIN), ("owner", Role.OWNER), ("viewer", Role.VIEWER)]
)
def test_every_token_works_with_its_role(name: str, role: Role) -> None:
    principal = principal_of(ensure_demo(Credentials()).token(name) or "")
    assert principal is not None
    assert access.open_workspace(principal, NAME, at_least=Role.VIEWER).role is role


def test_a_second_start_changes_nothing() -> None:
    made = ensure_demo(Credentials())
    counts = [model.objects.count() for model in (Memory, Workspace, MemoryPolicy)]
    assert ensure_demo(made) == made
    assert [model.objects.count() for model in (Memory, Workspace, MemoryPolicy)] == counts


def test_what_the_operator_changed_stays() -> None:
    made = ensure_demo(Credentials())
    MemoryPolicy.objects.update(spec={"tiers": {}})
    Memory.objects.all().delete()
    ensure_demo(made)
    assert MemoryPolicy.objects.get().spec == {"tiers": {}}
    assert not Memory.objects.exists()


def test_what_no_longer_works_is_made_to_work_again() -> None:
    made = ensure_demo(Credentials())
    owner = principal_of(made.token("owner") or "")
    assert owner is not None
    revoke_token(UUID(owner.caller.removeprefix("token:")), actor=Actor("test"), now=timezone.now())
    user = authenticate(username="viewer", password=made.password("viewer"))
    assert user is not None
    user.set_password("another")
    user.save()

    again = ensure_demo(made)
    assert again.token("owner") != made.token("owner")
    assert principal_of(again.token("owner") or "") is not None
    assert again.token("viewer") == made.token("viewer")
    assert again.users == made.users
    assert authenticate(username="viewer", password=made.password("viewer")) is not None
