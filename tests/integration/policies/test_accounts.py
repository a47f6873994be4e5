"""`manage.py create_user`: an account, and the roles that waited for it."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from omnia.api.authentication import principal_of_user
from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from policies.services.access import visible_workspaces
from policies.services.workspaces import put_workspace
from tests.contract.policy_documents import workspace
from tests.integration.policies.actors import OPERATOR

pytestmark = pytest.mark.django_db


def made(*words: str) -> dict[str, str]:
    out = StringIO()
    call_command("create_user", *words, "--json", stdout=out)
    facts: dict[str, str] = json.loads(out.getvalue())
    return facts


def test_the_password_printed_signs_in_and_is_kept_nowhere() -> None:
    facts = made("ada")
    assert Client().login(username="ada", password=facts["password"])
    assert list(AuditRow.objects.values_list("event", "metadata")) == [
        ("account_created", {"name": "ada", "platform_admin": False})
    ]
    assert facts["password"] not in repr([*User.objects.values_list(), *AuditRow.objects.values_list()])


def test_the_roles_granted_before_the_account_was_made_are_there_with_it() -> None:
    put_workspace(workspace({"directGrants": [{"user": "ada", "role": "editor"}]}), actor=OPERATOR, now=timezone.now())
    made("ada")
    [seen] = visible_workspaces(principal_of_user(User.objects.get()))
    assert (seen.name, seen.role) == ("w", Role.EDITOR)


def test_a_platform_admin_is_one_when_asked_for() -> None:
    made("root", "--platform-admin")
    made("ada")
    assert [(each.username, each.is_superuser) for each in User.objects.order_by("id")] == [
        ("root", True),
        ("ada", False),
    ]


@pytest.mark.parametrize(("name", "why"), [("ada", "already exists"), ("a b", "valid username"), ("", "blank")])
def test_a_name_that_is_taken_or_none_is_refused(name: str, why: str) -> None:
    made("ada")
    with pytest.raises(CommandError, match=why):
        made(name)
    assert User.objects.count() == 1
