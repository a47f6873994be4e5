"""Who may speak: tokens and sessions (security cases J 205, 215 and L; design: Auth)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from omnia.api.models import ApiToken
from omnia.api.tokens import revoke_token
from omnia.core.actor import Actor
from tests.callers import bearer, caller, issue

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.integration.api.routes")]
ECHO = "/api/v1/echo"

MALFORMED = [
    "",
    "Bearer",
    "Bearer ",
    "Bearer  x y",
    "Bearer omnia_short",
    "Bearer omnia_" + "a" * 30 + " b",
    "Bearer omnia_" + "a" * 30 + "\r\nX-Admin: 1",
    "Bearer omnia_" + "a" * 30 + "\x00",
    "Bearer omnia_" + "ä" * 30,
    "Bearer omnia_" + "a" * 5000,
    "Bearer " + "a" * 1_000_000,
    "Bearer eyJhbGciOiJub25lIn0.e30.",
    "Basic YWRtaW46YWRtaW4=",
    "Token omnia_" + "a" * 43,
    "omnia_" + "a" * 43,
]


def test_without_a_token_the_answer_says_how_to_send_one():
    answer = Client().get(ECHO)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert answer.json()["code"] == "unauthenticated"


@pytest.mark.parametrize("header", MALFORMED, ids=lambda header: repr(header[:24]))
def test_what_cannot_be_a_token_is_refused_without_asking_the_store(header, django_assert_num_queries):
    with django_assert_num_queries(0):
        answer = Client().get(ECHO, HTTP_AUTHORIZATION=header)
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")


def test_an_unknown_token_is_refused():
    assert bearer("omnia_" + "a" * 43).get(ECHO).status_code == 401


def test_a_token_is_known_with_one_statement(django_assert_num_queries):
    client = caller()
    client.get(ECHO)
    with django_assert_num_queries(1):
        assert client.get(ECHO).json()["caller"] == "token:owner"


def test_the_scheme_is_read_in_any_case_and_the_secret_as_it_is():
    secret = issue().secret
    assert Client().get(ECHO, HTTP_AUTHORIZATION=f"bearer {secret}").status_code == 200
    assert Client().get(ECHO, HTTP_AUTHORIZATION=f"Bearer {secret.swapcase()}").status_code == 401


def test_the_store_holds_no_secret():
    issued = issue()
    row = ApiToken.objects.values_list().get(id=issued.token.id)
    assert issued.secret.removeprefix("omnia_") not in repr(row)


def test_a_revoked_token_is_refused_at_once():
    issued = issue()
    client = bearer(issued.secret)
    assert client.get(ECHO).status_code == 200
    revoke_token(issued.token.id, actor=Actor("system:tests"), now=timezone.now())
    assert client.get(ECHO).status_code == 401


def test_an_expired_token_is_refused_at_once():
    issued = issue(lifetime=timedelta(seconds=5))
    client = bearer(issued.secret)
    assert client.get(ECHO).status_code == 200
    ApiToken.objects.filter(id=issued.token.id).update(expires_at=timezone.now() - timedelta(milliseconds=1))
    assert client.get(ECHO).status_code == 401


def test_the_last_use_is_noted_at_most_once_a_minute():
    issued = issue()
    client = bearer(issued.secret)

    def writes() -> int:
        with CaptureQueriesContext(connection) as asked:
            client.get(ECHO)
        return sum("UPDATE" in each["sql"] for each in asked)

    assert [writes(), writes()] == [1, 0]
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(seconds=61))
    assert writes() == 1
    last_used_at = ApiToken.objects.get(id=issued.token.id).last_used_at
    assert last_used_at is not None
    assert timezone.now() - last_used_at < timedelta(seconds=30)


def signed_in(*, enforce_csrf_checks: bool = False, **attributes: Any) -> tuple[User, Client]:
    user = User.objects.create_user("ada", password="a long enough password", **attributes)
    client = Client(enforce_csrf_checks=enforce_csrf_checks)
    client.force_login(user)
    return user, client


def test_a_session_is_its_user():
    _, client = signed_in()
    assert client.get(ECHO).json()["caller"] == "user:ada"


def test_a_session_of_a_user_switched_off_is_refused():
    user, client = signed_in()
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert client.get(ECHO).status_code == 401


def test_an_unsafe_method_of_a_session_needs_the_csrf_token():
    _, client = signed_in(enforce_csrf_checks=True)
    refused = client.post(ECHO, {}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf_failed")
    assert refused["Content-Type"] == "application/problem+json"
    client.cookies["csrftoken"] = "a" * 32
    assert client.post(ECHO, {}, content_type="application/json", headers={"X-CSRFToken": "b" * 32}).status_code == 403
    assert client.post(ECHO, {}, content_type="application/json", headers={"X-CSRFToken": "a" * 32}).status_code == 201


def test_a_session_posting_from_another_site_is_refused():
    _, client = signed_in(enforce_csrf_checks=True)
    client.cookies["csrftoken"] = "a" * 32
    answer = client.post(
        ECHO, {}, content_type="application/json", headers={"X-CSRFToken": "a" * 32, "Origin": "https://evil.example"}
    )
    assert answer.status_code == 403


def test_a_token_needs_no_csrf_token():
    client = Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {issue().secret}"})
    assert client.post(ECHO, {}, content_type="application/json").status_code == 201


def test_a_bad_token_is_not_made_good_by_a_session():
    _, client = signed_in()
    assert client.get(ECHO, headers={"Authorization": "Bearer nonsense"}).status_code == 401


@pytest.mark.parametrize("header", ["X-Remote-User", "X-Forwarded-User", "Remote-User", "X-Omnia-User-ID"])
def test_a_header_makes_nobody_known(header):
    assert Client(headers={header: "ada"}).get(ECHO).status_code == 401


def test_the_address_is_the_connection_s_and_not_a_header_s():
    answer = caller().post(ECHO, {}, content_type="application/json", headers={"X-Forwarded-For": "6.6.6.6"})
    assert answer.json()["ip"] == "127.0.0.1"


def test_the_user_agent_is_kept_printable_and_short():
    answer = caller().post(
        ECHO, {}, content_type="application/json", headers={"User-Agent": "a\x00\x1b[2J" + "b" * 500}
    )
    assert answer.json()["user_agent"] == ("a[2J" + "b" * 500)[:200]
