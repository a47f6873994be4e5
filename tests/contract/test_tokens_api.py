"""/tokens: made once shown, never with more power than their maker's (reference: Roles; design: Tokens)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from omnia.api.models import ApiToken
from omnia.api.principal import Role
from omnia.api.tokens import DREAMING
from omnia.audit.models import AuditRow
from tests.callers import bearer, caller
from tests.support import Store, opened_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


def owner(store: Store) -> Store:
    return replace(store, client=caller(Role.OWNER, workspaces=frozenset({store.workspace})))


def admin(store: Store) -> Store:
    return replace(store, client=caller(Role.PLATFORM_ADMIN))


def make(store: Store, *, status: int = 201, **wishes: Any) -> dict[str, Any]:
    body = {"name": "ci", "role": "editor", "workspaces": [str(store.workspace)], **wishes}
    return store.send(
        "POST", "tokens", {name: value for name, value in body.items() if value is not None}, status=status
    )


def listed(store: Store, *, status: int = 200) -> list[dict[str, Any]]:
    return list(store.send("GET", "tokens", None, status=status).get("items", []))


def test_a_token_works_until_it_is_withdrawn_and_its_secret_is_shown_once(store: Store) -> None:
    asking = owner(store)
    made = make(asking, user="u1", expires="90d")
    new = replace(store, client=bearer(made["token"]))
    new.save("Keeps bees")
    new.save("Keeps bees", user="u2", status=403)
    shown = next(each for each in listed(asking) if each["id"] == made["id"])
    assert "token" not in shown
    assert made["token"] not in str(listed(asking))
    assert (shown["user"], shown["role"], shown["workspaces"]) == ("u1", "editor", [str(store.workspace)])
    assert shown["expires_at"]
    asking.send("DELETE", f"tokens/{made['id']}", None, status=200)
    new.save("Keeps bees", status=401)
    asking.send("DELETE", f"tokens/{made['id']}", None, status=404)
    assert {"token_created", "token_revoked"} <= set(AuditRow.objects.values_list("event", flat=True))


@pytest.mark.parametrize("role", ["viewer", "editor", "owner"])
def test_an_owner_makes_tokens_for_their_workspaces(store: Store, role: str) -> None:
    assert make(owner(store), role=role)["role"] == role


TOO_MUCH: list[tuple[dict[str, Any], int]] = [
    ({"role": "platform-admin", "workspaces": []}, 403),
    ({"workspaces": ["*"]}, 403),
    ({"workspaces": ["OWN", "*"]}, 403),
    ({"workspaces": ["OWN", "OTHER"]}, 404),
    ({"workspaces": ["OTHER"]}, 404),
    ({"workspaces": []}, 400),
]


@pytest.mark.parametrize(("wishes", "status"), TOO_MUCH, ids=str)
def test_nobody_makes_a_token_that_may_more_than_they(store: Store, wishes: dict[str, Any], status: int) -> None:
    with opened_store() as other:
        names = {"OWN": str(store.workspace), "OTHER": str(other.workspace)}
        asking, before = owner(store), ApiToken.objects.count()
        make(asking, status=status, **wishes | {"workspaces": [names.get(each, each) for each in wishes["workspaces"]]})
        assert ApiToken.objects.count() == before


def test_a_scope_is_given_by_who_has_it(store: Store) -> None:
    mine = frozenset({store.workspace})
    holder = replace(store, client=caller(Role.OWNER, workspaces=mine, scopes=frozenset({DREAMING})))
    assert make(owner(store), scopes=[DREAMING], status=403)["code"] == "scope_not_held"
    assert make(holder, scopes=[DREAMING])["scopes"] == [DREAMING]
    assert make(admin(store), scopes=[DREAMING])["scopes"] == [DREAMING]


@pytest.mark.parametrize("role", [Role.OWNER, Role.PLATFORM_ADMIN])
def test_a_token_ends_no_later_than_its_maker(store: Store, role: Role) -> None:
    asking = replace(store, client=caller(role, lifetime=timedelta(days=2)))
    for expires in (None, "3d"):
        assert make(asking, expires=expires, status=403)["code"] == "outlives_its_maker"
    assert make(asking, expires="1d")["expires_at"]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_only_owners_and_platform_admins_deal_with_tokens(store: Store, role: Role) -> None:
    asking = replace(store, client=caller(role, workspaces=frozenset({store.workspace})))
    make(asking, status=403)
    listed(asking, status=403)


def test_a_bound_token_does_not(store: Store) -> None:
    asking = replace(store, client=caller(Role.OWNER, subject="u1"))
    assert make(asking, status=403)["code"] == "bound_to_a_user"
    listed(asking, status=403)


def test_a_platform_admin_makes_and_sees_all(store: Store) -> None:
    root = admin(store)
    made = [make(root, role="platform-admin", workspaces=[]), make(root, workspaces=["*"])]
    assert {each["id"] for each in made} <= {each["id"] for each in listed(root)}


def test_an_owner_sees_and_withdraws_only_what_reaches_no_further(store: Store) -> None:
    with opened_store() as other:
        root, asking = admin(store), owner(store)
        names = [str(store.workspace), str(other.workspace)]
        hidden = [make(root, workspaces=["*"]), make(root, workspaces=names), make(root, workspaces=names[1:])]
        seen = make(root)
        ids = {each["id"] for each in listed(asking)}
        assert seen["id"] in ids
        assert not {each["id"] for each in hidden} & ids
        for each in hidden:
            asking.send("DELETE", f"tokens/{each['id']}", None, status=404)


BAD: list[dict[str, Any]] = [
    {"name": ""}, {"name": "a\nb"}, {"name": None}, {"role": "root"}, {"role": None}, {"user": ""}, {"user": " "},
    {"expires": ""}, {"expires": "1s"}, {"expires": "4000d"}, {"expires": "soon"}, {"scopes": ["all"]}, {"workspace": "w"},
    {"workspaces": "*"}, {"usr": "u1"},
]  # fmt: skip


@pytest.mark.parametrize("wishes", BAD, ids=str)
def test_a_wish_that_means_nothing_makes_no_token(store: Store, wishes: dict[str, Any]) -> None:
    root, before = admin(store), ApiToken.objects.count()
    make(root, status=400, **wishes)
    assert ApiToken.objects.count() == before
