"""Who may enter a workspace, and as what (design: Auth; security cases K 219, 226, 227)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from guardian.models import GroupObjectPermission, UserObjectPermission
from guardian.shortcuts import assign_perm

from omnia.api.principal import Principal, Role
from omnia.core.errors import Forbidden, NotFound
from policies import permissions
from policies.models import Workspace
from policies.services.access import clear_cache, open_workspace, visible_workspaces
from policies.services.bindings import visible_bindings, visible_policies
from policies.services.edit import create_policy
from policies.services.workspaces import create_workspace, delete_workspace, replace_workspace
from tests.contract.policy_documents import NOW, bound, policy, workspace
from tests.integration.policies.actors import OPERATOR

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def cold() -> Iterator[None]:
    clear_cache()
    yield
    clear_cache()


def make(name: str = "w", **spec: Any) -> Workspace:
    return create_workspace(workspace(spec, name=name), actor=OPERATOR, now=NOW)


def token(role: Role, *workspaces: UUID, everywhere: bool = False) -> Principal:
    return Principal(
        name="token:t",
        caller="token:1",
        role=role,
        workspaces=None if everywhere else frozenset(workspaces),
        platform_admin=role is Role.PLATFORM_ADMIN,
    )


def session(user: User) -> Principal:
    return Principal(
        name=f"user:{user.username}", caller=f"user:{user.pk}", user=user, platform_admin=user.is_superuser
    )


def ada(**fields: Any) -> User:
    return User.objects.create_user("ada", **fields)


def role_in(principal: Principal, reference: str) -> Role | None:
    try:
        return open_workspace(principal, reference, at_least=Role.VIEWER).role
    except NotFound as error:
        assert error.code == "workspace_not_found"  # noqa: PT017 - no role is one of the right answers
        return None


# --- Tokens -------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", list(Role))
def test_a_token_has_its_role_where_it_reaches(role: Role) -> None:
    inside, outside = make("inside"), make("outside")
    assert role_in(token(role, inside.uid), "inside") is role
    assert role_in(token(role, everywhere=True), "outside") is role
    elsewhere = role_in(token(role, inside.uid), str(outside.uid))
    assert elsewhere is (Role.PLATFORM_ADMIN if role is Role.PLATFORM_ADMIN else None)


@pytest.mark.parametrize("held", list(Role))
@pytest.mark.parametrize("needed", list(Role))
def test_a_role_may_do_what_smaller_ones_may(held: Role, needed: Role) -> None:
    make()
    principal = token(held, everywhere=True)
    if held >= needed:
        assert open_workspace(principal, "w", at_least=needed).role is held
    else:
        with pytest.raises(Forbidden) as refusal:
            open_workspace(principal, "w", at_least=needed)
        assert refusal.value.code == "role_too_small"


def test_a_workspace_is_named_by_uid_or_name() -> None:
    made = make()
    principal = token(Role.VIEWER, everywhere=True)
    for reference in (str(made.uid), str(made.uid).upper(), "w"):
        found = open_workspace(principal, reference, at_least=Role.VIEWER)
        assert (found.uid, found.name) == (made.uid, "w")


UNKNOWN = [
    "",
    " ",
    "nobody",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "nul\x00",
    "\ud800",
    "x" * 300,
    "' or 1=1",
    "{w}",
    "W",
]


@pytest.mark.parametrize("reference", UNKNOWN)
def test_what_does_not_exist_and_what_is_not_yours_answer_alike(reference: str) -> None:
    make()
    with pytest.raises(NotFound) as unknown:
        open_workspace(token(Role.PLATFORM_ADMIN), reference, at_least=Role.VIEWER)
    with pytest.raises(NotFound) as foreign:
        open_workspace(token(Role.OWNER), "w", at_least=Role.VIEWER)
    assert (unknown.value.code, unknown.value.detail) == (foreign.value.code, foreign.value.detail)


def test_a_workspace_named_like_the_uid_of_another_cannot_stand_in_for_it() -> None:
    first = make("first")
    make(str(first.uid))
    assert open_workspace(token(Role.VIEWER, everywhere=True), str(first.uid), at_least=Role.VIEWER).name == "first"


def test_a_token_costs_one_lookup_and_then_none() -> None:
    make()
    principal = token(Role.EDITOR, everywhere=True)
    with CaptureQueriesContext(connection) as first:
        open_workspace(principal, "w", at_least=Role.EDITOR)
    with CaptureQueriesContext(connection) as second:
        open_workspace(principal, "w", at_least=Role.EDITOR)
    assert (len(first), len(second)) == (1, 0)


def test_a_missing_workspace_is_looked_up_again() -> None:
    principal = token(Role.VIEWER, everywhere=True)
    assert role_in(principal, "late") is None
    Workspace.objects.create(name="late")
    assert role_in(principal, "late") is Role.VIEWER


def test_a_deployment_pinned_to_a_workspace_serves_no_other(settings: Any) -> None:
    make("a"), make("b")
    settings.OMNIA = replace(settings.OMNIA, workspace="a")
    admin = token(Role.PLATFORM_ADMIN)
    assert (role_in(admin, "a"), role_in(admin, "b")) == (Role.PLATFORM_ADMIN, None)
    assert [each.name for each in visible_workspaces(admin)] == ["a"]


# --- Sessions -----------------------------------------------------------------------------------


def test_a_user_has_the_roles_their_grants_give() -> None:
    user = ada()
    make("owned", directGrants=[{"user": "ada", "role": "owner"}])
    make("read", directGrants=[{"user": "ada", "role": "viewer"}])
    make("foreign", directGrants=[{"user": "bob", "role": "owner"}])
    roles = {name: role_in(session(user), name) for name in ("owned", "read", "foreign")}
    assert roles == {"owned": Role.OWNER, "read": Role.VIEWER, "foreign": None}


def test_a_user_has_the_roles_of_their_groups_and_the_greatest_counts() -> None:
    user = ada()
    user.groups.add(Group.objects.create(name="staff"))
    make(
        "w",
        roleBindings=[{"groups": ["staff", "guests"], "role": "editor"}],
        directGrants=[{"user": "ada", "role": "viewer"}],
    )
    assert role_in(session(user), "w") is Role.EDITOR
    user.groups.clear()
    assert role_in(session(user), "w") is Role.VIEWER


@pytest.mark.parametrize(("hours", "role"), [(1, Role.EDITOR), (-1, None)])
def test_an_expired_grant_gives_nothing(hours: int, role: Role | None) -> None:
    expires = (timezone.now() + timedelta(hours=hours)).isoformat()
    make("w", directGrants=[{"user": "ada", "role": "editor", "expires": expires}])
    user = ada()
    assert role_in(session(user), "w") is role
    assert [each.role for each in visible_workspaces(session(user))] == ([role] if role else [])


def test_an_expired_grant_does_not_borrow_the_time_of_another() -> None:
    past = "2020-01-01T00:00:00Z"
    user = ada()
    make("w", directGrants=[{"user": "ada", "role": "owner", "expires": past}, {"user": "ada", "role": "viewer"}])
    assert role_in(session(user), "w") is Role.VIEWER


def test_a_grant_waits_for_its_user() -> None:
    make("w", directGrants=[{"user": "ada", "role": "owner"}])
    user = ada()
    assert role_in(session(user), "w") is Role.OWNER
    permissions.sync_user(user)
    user.save()
    assert role_in(session(user), "w") is Role.OWNER


def test_roles_follow_the_document() -> None:
    user = ada()
    make("w", directGrants=[{"user": "ada", "role": "owner"}])
    replace_workspace("w", workspace({"directGrants": [{"user": "ada", "role": "viewer"}]}), actor=OPERATOR, now=NOW)
    assert role_in(session(user), "w") is Role.VIEWER
    replace_workspace("w", workspace(), actor=OPERATOR, now=NOW)
    assert role_in(session(user), "w") is None


def test_an_inactive_user_has_no_role() -> None:
    user = ada(is_active=False)
    make("w", directGrants=[{"user": "ada", "role": "owner"}])
    assert role_in(session(user), "w") is None


def test_a_global_permission_never_counts() -> None:
    user = ada()
    user.user_permissions.add(Permission.objects.get(codename="workspace_owner"))
    make("w")
    assert role_in(session(user), "w") is None
    assert visible_workspaces(session(user)) == []


def test_a_permission_the_document_does_not_grant_never_counts() -> None:
    user = ada()
    assign_perm("workspace_owner", user, make("w"))
    assert role_in(session(user), "w") is None


def test_deleting_a_workspace_takes_its_permissions_so_that_none_is_inherited() -> None:
    user = ada()
    user.groups.add(Group.objects.create(name="staff"))
    grants = {
        "directGrants": [{"user": "ada", "role": "owner"}],
        "roleBindings": [{"groups": ["staff"], "role": "editor"}],
    }
    uid = make("w", **grants).uid
    delete_workspace("w", actor=OPERATOR)
    assert not UserObjectPermission.objects.exists()
    assert not GroupObjectPermission.objects.exists()
    Workspace.objects.create(uid=uid, name="w", spec=grants)
    assert role_in(session(user), "w") is None


def test_a_superuser_is_a_platform_admin_everywhere() -> None:
    make("w")
    assert role_in(session(ada(is_superuser=True)), "w") is Role.PLATFORM_ADMIN


# --- Lists --------------------------------------------------------------------------------------


def test_everyone_sees_the_workspaces_they_have_a_role_in_by_name() -> None:
    user = ada()
    first = make("a", directGrants=[{"user": "ada", "role": "viewer"}])
    make("c")
    make("b", directGrants=[{"user": "ada", "role": "owner"}])

    def seen(principal: Principal) -> list[tuple[str, Role]]:
        return [(each.name, each.role) for each in visible_workspaces(principal)]

    assert seen(session(user)) == [("a", Role.VIEWER), ("b", Role.OWNER)]
    assert seen(token(Role.EDITOR, first.uid)) == [("a", Role.EDITOR)]
    assert seen(token(Role.EDITOR)) == []
    assert [name for name, _ in seen(token(Role.PLATFORM_ADMIN))] == ["a", "b", "c"]


def test_a_list_costs_the_same_however_many_workspaces_there_are() -> None:
    user = ada()
    for number in range(5):
        make(f"w{number}", directGrants=[{"user": "ada", "role": "viewer"}])
    with CaptureQueriesContext(connection) as queries:
        assert len(visible_workspaces(session(user))) == 5
    assert len(queries) == 3


def test_a_policy_is_read_by_those_who_see_a_workspace_that_binds_it() -> None:
    for name in ("mine", "theirs", "unbound"):
        create_policy(policy(name=name), actor=OPERATOR, now=NOW)
    user = ada()
    uid = make("a", directGrants=[{"user": "ada", "role": "viewer"}], **bound("mine")).uid
    make("b", services=[*bound("theirs")["services"], *bound("mine", group="batch")["services"]])

    def read(principal: Principal) -> dict[str, list[str]]:
        return {
            row.name: [f"{each.workspace}/{each.service_group}" for each in found]
            for row, found in visible_policies(principal)
        }

    assert read(session(user)) == {"mine": ["a/default"]}
    assert read(token(Role.OWNER, uid)) == {"mine": ["a/default"]}
    assert read(token(Role.PLATFORM_ADMIN)) == {
        "mine": ["a/default", "b/batch"],
        "theirs": ["b/default"],
        "unbound": [],
    }
    assert [each.as_json() for each in visible_bindings(session(user))["mine"]] == [
        {"workspace": "a", "workspace_uid": str(uid), "service_group": "default"}
    ]
