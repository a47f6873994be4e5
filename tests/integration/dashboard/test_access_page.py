"""The Access page: tokens shown once, members, accounts; for owners and platform admins (reference: Roles)."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from omnia.api.models import ApiToken
from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from policies.models import Workspace
from tests.callers import bearer, issue
from tests.integration.dashboard.scene import browser_of, person, workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def place() -> Workspace:
    return workspace("research", ada="viewer", eve="editor", olga="owner")


@pytest.fixture
def olga(place: Workspace) -> Client:
    return browser_of("olga")


@pytest.fixture
def root(place: Workspace) -> Client:
    admin = person("root")
    admin.is_superuser = True
    admin.save()
    return browser_of("root")


def page(client: Client) -> str:
    answer = client.get("/access/")
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    return answer.content.decode()


def secret_in(text: str, name: str) -> str:
    found = re.search(rf'id="{name}"[^>]*><code>(.*?)</code>', text)
    assert found
    return unescape(found[1])


FORMS = ["tokens/", "tokens/018f0000-0000-7000-8000-000000000000/withdraw/", "roles/", "roles/withdraw/", "accounts/"]


@pytest.mark.parametrize("name", ["ada", "eve"])
def test_others_have_no_such_page(place: Workspace, name: str) -> None:
    client = browser_of(name)
    assert client.get("/access/").status_code == 403
    assert "/access/" not in client.get("/memories/").content.decode()
    for form in FORMS:
        answer = client.post(f"/access/{form}", {"name": "x", "role": "owner", "person": name, "username": "x"})
        assert answer.status_code == 403
    assert not ApiToken.objects.exists()
    assert not User.objects.filter(username="x").exists()


@pytest.mark.parametrize("form", FORMS)
def test_a_form_needs_its_csrf_token(place: Workspace, form: str) -> None:
    client = browser_of("olga", checks_csrf=True)
    assert client.post(f"/access/{form}", {"name": "x", "role": "viewer"}).status_code == 403


class TestTokens:
    def made(self, client: Client, **fields: Any) -> str:
        given = {"name": "ci", "role": "editor", "expires": "90d", **fields}
        answer = client.post("/access/tokens/", given)
        assert answer.status_code == 200
        return answer.content.decode()

    def test_a_token_is_shown_once_and_works_until_it_is_withdrawn(self, olga: Client, place: Workspace) -> None:
        secret = secret_in(self.made(olga, user="u1"), "issued")
        assert secret not in page(olga)
        asking = bearer(secret)
        query = {"workspace": str(place.uid), "user_id": "u1"}
        assert asking.get("/api/v1/memories", query).status_code == 200
        assert asking.get("/api/v1/memories", query | {"user_id": "u2"}).status_code == 403
        token = ApiToken.objects.get()
        assert (token.workspaces, token.subject, token.role) == ([place.uid], "u1", "editor")
        assert token.expires_at is not None
        shown = page(olga)
        assert "only user u1" in shown
        assert olga.post(f"/access/tokens/{token.id}/withdraw/").status_code == 302
        assert asking.get("/api/v1/memories", query).status_code == 401
        assert AuditRow.objects.filter(event="token_revoked", actor="user:olga").exists()

    @pytest.mark.parametrize("fields", [{"name": ""}, {"name": "a\nb"}, {"role": "platform-admin"}, {"expires": "9999d"},
                                        {"role": ""}], ids=str)  # fmt: skip
    def test_a_wish_that_means_nothing_makes_none_and_keeps_what_was_typed(
        self, olga: Client, fields: dict[str, str]
    ) -> None:
        text = self.made(olga, **{"user": "typed-user", **fields})
        assert not ApiToken.objects.exists()
        assert "typed-user" in text

    def test_tokens_of_other_workspaces_are_not_shown_or_withdrawn(self, olga: Client) -> None:
        other = workspace("other", otto="owner")
        hidden = [issue(Role.OWNER, name="theirs", workspaces=frozenset({other.uid})), issue(name="everywhere")]
        text = page(olga)
        assert "theirs" not in text
        assert "everywhere" not in text
        for each in hidden:
            assert olga.post(f"/access/tokens/{each.token.id}/withdraw/").status_code == 404

    def test_a_platform_admin_sees_those_that_reach_everywhere(self, root: Client) -> None:
        issue(name="everywhere")
        assert "every workspace" in page(root)


class TestMembers:
    def test_a_person_is_given_a_role_and_loses_it(self, olga: Client, place: Workspace) -> None:
        person("newcomer")
        assert olga.post("/access/roles/", {"person": "newcomer", "role": "viewer"}).status_code == 302
        assert browser_of("newcomer").get("/memories/").status_code == 200
        assert "newcomer" in page(olga)
        olga.post("/access/roles/", {"person": "newcomer", "role": "editor", "until": "2999-01-01"})
        place.refresh_from_db()
        grants = [each for each in place.spec["directGrants"] if each["user"] == "newcomer"]
        assert grants == [{"user": "newcomer", "role": "editor", "expires": "2999-01-02T00:00:00Z"}]
        assert olga.post("/access/roles/withdraw/", {"person": "newcomer"}).status_code == 302
        place.refresh_from_db()
        assert not any(each["user"] == "newcomer" for each in place.spec["directGrants"])
        assert AuditRow.objects.filter(event="workspace_changed", actor="user:olga").count() == 3

    def test_who_has_no_account_yet_is_said_so(self, olga: Client) -> None:
        olga.post("/access/roles/", {"person": "somebody-new", "role": "viewer"})
        assert "has no account yet" in page(olga)

    @pytest.mark.parametrize(
        "fields", [{"person": ""}, {"role": "platform-admin"}, {"role": ""}, {"until": "soon"}], ids=str
    )
    def test_a_wish_that_means_nothing_changes_nothing(
        self, olga: Client, place: Workspace, fields: dict[str, str]
    ) -> None:
        answer = olga.post("/access/roles/", {"person": "newcomer", "role": "viewer", **fields})
        assert answer.status_code == 200
        place.refresh_from_db()
        assert len(place.spec["directGrants"]) == 3

    def test_nobody_is_removed_who_is_not_there(self, olga: Client) -> None:
        assert olga.post("/access/roles/withdraw/", {"person": "nobody"}).status_code == 404


class TestAccounts:
    def test_a_platform_admin_makes_one_and_gives_its_password(self, root: Client) -> None:
        answer = root.post("/access/accounts/", {"username": "newcomer"})
        password = secret_in(answer.content.decode(), "password")
        assert Client().login(username="newcomer", password=password)
        assert password not in page(root)
        assert not User.objects.get(username="newcomer").is_superuser

    def test_owners_make_none(self, olga: Client) -> None:
        assert "New account" not in page(olga)
        assert olga.post("/access/accounts/", {"username": "newcomer", "platform_admin": "on"}).status_code == 403
        assert not User.objects.filter(username="newcomer").exists()

    def test_a_taken_name_is_told(self, root: Client) -> None:
        answer = root.post("/access/accounts/", {"username": "olga"})
        assert "username already exists" in answer.content.decode()


def test_what_somebody_wrote_is_shown_as_text(olga: Client) -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    olga.post("/access/tokens/", {"name": hostile, "role": "viewer", "expires": ""})
    assert hostile not in page(olga)
