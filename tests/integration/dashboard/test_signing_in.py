"""Signing in and out, and who is let in (security cases N: CSRF, `?next=`, session ids, caches)."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client

from tests.integration.dashboard.scene import PASSWORD, browser_of, person, workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def visitor() -> Client:
    return Client(headers={"Accept": "text/html"})


def sign_in(visitor: Client, *, password: str = PASSWORD, further: str = "", **fields: str):
    person("ada")
    return visitor.post(f"/login/{further}", {"username": "ada", "password": password, **fields})


@pytest.mark.parametrize("address", ["/", "/memories/", "/memories/01890a5d-ac96-774b-bcce-b302099a8057/"])
def test_a_stranger_is_sent_to_the_sign_in_page_and_back(visitor: Client, address: str) -> None:
    assert visitor.get(address)["Location"] == f"/login/?next={address}"


@pytest.mark.parametrize("address", ["/workspace/", "/memories/scope/", "/logout/"])
def test_a_stranger_changes_nothing(visitor: Client, address: str) -> None:
    answer = visitor.post(address, {"workspace": "research", "tier": "institutional"})
    assert answer["Location"].startswith("/login/")


@pytest.mark.parametrize(
    "address",
    ["/workspace/", "/memories/scope/", "/memories/01890a5d-ac96-774b-bcce-b302099a8057/forget/?view=x"],
)
def test_who_sends_a_form_after_the_session_ended_signs_in_and_sees_a_page(visitor: Client, address: str) -> None:
    workspace("research", ada="owner")
    way = visitor.post(address)["Location"]
    further = way.removeprefix("/login/")
    assert visitor.get(sign_in(visitor, further=further)["Location"], follow=True).status_code == 200


def test_a_stranger_whose_session_ended_leaves_the_page_htmx_is_on(visitor: Client) -> None:
    headers = {"HX-Request": "true", "HX-Target": "results", "HX-Current-URL": "http://testserver/memories/?view=x"}
    answer = visitor.get("/memories/", headers=headers)
    assert answer["HX-Redirect"] == "/login/?next=/memories/"


def test_username_and_password_lead_to_the_memories(visitor: Client) -> None:
    answer = sign_in(visitor)
    assert answer["Location"] == "/"
    assert visitor.get("/")["Location"] == "/memories/"


def test_a_wrong_password_is_said_and_tied_to_the_fields(visitor: Client) -> None:
    page = sign_in(visitor, password="guess").content.decode()
    assert 'role="alert" id="login-error"' in page
    assert page.count('aria-describedby="login-error"') == 2
    assert "guess" not in page


def test_someone_signed_in_is_not_asked_again() -> None:
    assert browser_of("ada").get("/login/")["Location"] == "/"


def test_the_session_id_rotates_at_both_ends_and_the_old_one_is_dead(visitor: Client) -> None:
    visitor.get("/login/")
    sign_in(visitor)
    first = visitor.cookies[settings.SESSION_COOKIE_NAME].value
    visitor.post("/logout/")
    sign_in(visitor)
    assert visitor.cookies[settings.SESSION_COOKIE_NAME].value != first
    visitor.cookies[settings.SESSION_COOKIE_NAME] = first
    assert visitor.get("/memories/")["Location"] == "/login/?next=/memories/"


def test_a_session_id_from_before_signing_in_is_not_kept(visitor: Client) -> None:
    planted = visitor.session
    planted.save()
    before = str(planted.session_key)
    visitor.cookies[settings.SESSION_COOKIE_NAME] = before
    sign_in(visitor)
    assert visitor.cookies[settings.SESSION_COOKIE_NAME].value != before


def test_signing_out_takes_a_post() -> None:
    client = browser_of("ada")
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/")["Location"] == "/login/"
    assert client.get("/")["Location"] == "/login/?next=/"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "//evil.example",
        "https://evil.example/",
        "///evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "http:evil.example",
    ],
)
@pytest.mark.parametrize("place", ["query", "body"])
def test_next_leads_to_this_host_only(visitor: Client, elsewhere: str, place: str) -> None:
    answer = sign_in(visitor, further=f"?next={elsewhere}") if place == "query" else sign_in(visitor, next=elsewhere)
    assert answer["Location"] == "/"


def test_next_leads_back_on_this_host(visitor: Client) -> None:
    assert sign_in(visitor, next="/memories/?q=tea")["Location"] == "/memories/?q=tea"


@pytest.mark.parametrize(
    "address",
    [
        "/login/",
        "/logout/",
        "/workspace/",
        "/memories/scope/",
        "/memories/01890a5d-ac96-774b-bcce-b302099a8057/forget/",
    ],
)
def test_every_form_needs_its_csrf_token(address: str) -> None:
    workspace("research", ada="owner")
    answer = browser_of("ada", checks_csrf=True).post(address, {"workspace": "research", "tier": "institutional"})
    assert answer.status_code == 403
    assert "This form was out of date" in answer.content.decode()


@pytest.mark.parametrize(
    "address",
    ["/logout/", "/workspace/", "/memories/scope/", "/memories/01890a5d-ac96-774b-bcce-b302099a8057/forget/"],
)
def test_what_changes_something_refuses_get_with_a_page_that_leads_on(address: str) -> None:
    workspace("research", ada="owner")
    answer = browser_of("ada").get(address)
    assert answer.status_code == 405
    assert "POST" in answer["Allow"]
    assert '<a class="btn" href="/">Go to Memories</a>' in answer.content.decode()


@pytest.mark.parametrize(
    "address", ["/", "/login/", "/memories/", "/memories/01890a5d-ac96-774b-bcce-b302099a8057/", "/nothing"]
)
def test_no_page_is_kept_by_a_cache_and_each_has_its_headers(address: str) -> None:
    workspace("research", ada="viewer")
    answer = browser_of("ada").get(address)
    assert "no-store" in answer["Cache-Control"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    policy = answer["Content-Security-Policy"]
    assert {"script-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"} <= set(
        policy.split("; ")
    )
    assert "unsafe" not in policy


def test_an_api_token_opens_no_page() -> None:
    from tests.callers import caller

    assert caller().get("/memories/")["Location"] == "/login/?next=/memories/"
