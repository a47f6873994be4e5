"""`manage.py create_token` and what a token may be (design: Tokens, Fine print)."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from omnia.api.authentication import principal_of
from omnia.api.models import ApiToken
from omnia.api.principal import Role
from omnia.api.tokens import revoke_token
from omnia.audit.models import AuditRow
from omnia.core.actor import Actor
from omnia.core.errors import NotFound
from policies.models import Workspace
from tests.callers import issue

pytestmark = pytest.mark.django_db


def made(*words: str) -> dict[str, Any]:
    out = StringIO()
    call_command("create_token", "--name", "ci", *words, "--json", stdout=out)
    facts: dict[str, Any] = json.loads(out.getvalue())
    return facts


def test_a_workspace_is_named_by_uid_or_name_and_more_than_once():
    one, two = Workspace.objects.create(name="one"), Workspace.objects.create(name="two")
    facts = made(
        "--role", "editor", "--workspace", "one", "--workspace", str(two.uid), "--user", "u-1", "--scope", "dreaming"
    )
    principal = principal_of(facts["token"])
    assert principal is not None
    assert principal.workspaces == frozenset({one.uid, two.uid})
    assert (principal.role, principal.subject, principal.scopes) == (Role.EDITOR, "u-1", frozenset({"dreaming"}))
    assert (principal.name, principal.caller) == ("token:ci", f"token:{facts['id']}")
    assert not principal.platform_admin


@pytest.mark.parametrize("role", ["owner", "editor", "viewer"])
def test_a_star_is_every_workspace(role):
    principal = principal_of(made("--role", role, "--workspace", "*")["token"])
    assert principal is not None
    assert (principal.workspaces, principal.role, principal.platform_admin) == (None, Role.of(role), False)


def test_a_platform_admin_needs_no_workspace():
    principal = principal_of(made("--role", "platform-admin")["token"])
    assert principal is not None
    assert principal.platform_admin
    assert principal.workspaces is None


@pytest.mark.parametrize(("text", "span"), [("5s", timedelta(seconds=5)), ("3650d", timedelta(days=3650))])
def test_a_lifetime_ends_where_it_says(text, span):
    made("--role", "viewer", "--workspace", "*", "--expires", text)
    expires_at = ApiToken.objects.get().expires_at
    assert expires_at is not None
    assert abs(expires_at - timezone.now() - span) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (("--role", "owner"), "workspace"),
        (("--role", "owner", "--workspace", "unknown"), "workspace"),
        (("--role", "owner", "--workspace", ""), "workspace"),
        (("--role", "owner", "--workspace", "*", "--user", ""), "user"),
        (("--role", "owner", "--workspace", "*", "--user", " "), "user"),
        (("--role", "owner", "--workspace", "*", "--user", "a\x00"), "user"),
        (("--role", "owner", "--workspace", "*", "--expires", "4s"), "5s to 3650d"),
        (("--role", "owner", "--workspace", "*", "--expires", "3651d"), "5s to 3650d"),
        (("--role", "owner", "--workspace", "*", "--expires", "soon"), "180d"),
        (("--role", "owner", "--workspace", "*", "--expires", ""), "leave it out"),
        (("--role", "owner", "--workspace", "*", "--name", " "), "name"),
        (("--role", "platform-admin", "--user", "u-1"), "leave out"),
        (("--role", "root", "--workspace", "*"), "invalid choice"),
        (("--role", "owner", "--workspace", "*", "--scope", "all"), "invalid choice"),
    ],
)
def test_a_wish_that_breaks_a_rule_says_the_fix_and_makes_nothing(words, fix):
    with pytest.raises(CommandError, match=fix):
        made(*words)
    assert not ApiToken.objects.exists()


def test_making_and_revoking_are_audited_without_the_secret():
    issued = issue()
    revoke_token(issued.token.id, actor=Actor("user:root"), now=timezone.now())
    rows = list(AuditRow.objects.order_by("id").values_list("event", "actor", "metadata__token"))
    uid = str(issued.token.id)
    assert rows == [("token_created", "system:tests", uid), ("token_revoked", "user:root", uid)]
    assert issued.secret not in repr(list(AuditRow.objects.values_list()))


def test_a_token_is_revoked_from_the_command_line():
    facts = made("--role", "viewer", "--workspace", "*")
    call_command("revoke_token", facts["id"], stdout=StringIO())
    assert principal_of(facts["token"]) is None
    for wrong in (facts["id"], "not-an-id"):
        with pytest.raises(CommandError, match=r"no such token|invalid UUID"):
            call_command("revoke_token", wrong)


def test_a_token_is_revoked_once():
    issued = issue()
    revoke_token(issued.token.id, actor=Actor("user:root"), now=timezone.now())
    with pytest.raises(NotFound):
        revoke_token(issued.token.id, actor=Actor("user:root"), now=timezone.now())
