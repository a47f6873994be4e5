"""Who of the cluster's own may call: tokens judged by the API server, and nobody let in when it cannot be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from kubernetes import client

from omnia.config import ClusterConfig, OmniaConfig, ServiceAccounts
from omnia.core.errors import Forbidden, Unauthenticated, Unavailable
from policies.kube.current import use
from policies.services import service_accounts
from policies.services.service_accounts import (
    KEPT_SECONDS,
    REVIEWS_AT_ONCE,
    forget_reviews,
    principal_of_service_account,
)
from tests.callers import bearer
from tests.cluster.api import Api
from tests.cluster.control_plane import ControlPlane
from tests.cluster.fake_server import answer, hang, reset
from tests.cluster.tokens import ACCOUNT, AUDIENCE, good, token
from tests.integration.mcp.connecting import posted, short_connections
from tests.support import new_workspace

ALLOWED = ServiceAccounts((AUDIENCE,), frozenset([ACCOUNT]), frozenset(["trusted"]))


@pytest.fixture(autouse=True)
def allowed(settings: Any) -> Iterator[None]:
    settings.OMNIA = replace(settings.OMNIA, cluster=ClusterConfig("kubeconfig", ALLOWED))
    forget_reviews()
    yield
    forget_reviews()


@pytest.fixture
def judge(fake: Api, in_fake: None) -> dict[str, dict[str, Any]]:
    """What the API server says of which token."""
    assert fake.fake
    return fake.fake.cluster.tokens


def reviews(fake: Api) -> int:
    assert fake.fake
    return len(fake.fake.asked)


@pytest.mark.django_db
def test_behaviour_178_who_passes_and_who_does_not(judge: dict[str, Any], fake: Api) -> None:
    shown = {name: token(number=number) for number, name in enumerate(("listed", "namespace", "other", "bad"))}
    judge[shown["listed"]] = good()
    judge[shown["namespace"]] = good("system:serviceaccount:trusted:worker")
    judge[shown["other"]] = good("system:serviceaccount:agents:other")
    workspace = new_workspace()

    def listing(**headers: str) -> int:
        return int(
            Client(headers=headers).get("/api/v1/memories", {"workspace": str(workspace), "user_id": "u"}).status_code
        )

    answers = {name: listing(Authorization=f"Bearer {each}") for name, each in shown.items()}
    assert answers == {"listed": 200, "namespace": 200, "other": 403, "bad": 401}
    assert listing() == 401
    assert Client().get("/healthz").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    "header",
    ["Bearer", "Bearer  x y", "Basic eDp5", "Bearer " + "a." * 500_000 + "b", "Bearer a.b.c\r\nX: y", "Bearer a.b"],
)
def test_security_205_a_malformed_header_is_refused_without_asking(header: str, judge: Any, fake: Api) -> None:
    refused = Client(headers={"Authorization": header}).get("/api/v1/memories", {"workspace": "w"})
    assert refused.status_code == 401
    assert reviews(fake) == 0


@pytest.mark.parametrize("audience", ["other", ["other"], None, [], 7, {"memory": 1}])
def test_a_token_for_others_is_refused_without_asking(audience: Any, judge: Any, fake: Api) -> None:
    with pytest.raises(Unauthenticated):
        principal_of_service_account(token(audience=audience))
    assert reviews(fake) == 0


@pytest.mark.parametrize("payload", ["a.!.c", "a.bm8.c", "a.W10.c"])
def test_a_token_that_says_nothing_legible_is_refused_without_asking(payload: str, judge: Any, fake: Api) -> None:
    with pytest.raises(Unauthenticated):
        principal_of_service_account(payload)
    assert reviews(fake) == 0


def test_an_expired_token_is_refused_without_asking(judge: Any, fake: Api) -> None:
    with pytest.raises(Unauthenticated):
        principal_of_service_account(token(lives=-1))
    assert reviews(fake) == 0


@pytest.mark.parametrize("audiences", [("other",), ("other", "memory2")])
def test_security_206_an_answer_for_other_audiences_is_no_answer(audiences: Any, judge: dict[str, Any]) -> None:
    shown = token()
    judge[shown] = good(audiences=audiences)
    with pytest.raises(Unauthenticated):
        principal_of_service_account(shown)


def test_security_207_an_answer_without_audiences_is_for_the_api_server(judge: dict[str, Any]) -> None:
    shown = token()
    judge[shown] = good(audiences=())
    with pytest.raises(Unauthenticated):
        principal_of_service_account(shown)


@pytest.mark.parametrize(
    "username",
    [
        f"{ACCOUNT}:extra",
        f"{ACCOUNT}2",
        ACCOUNT[:-1],
        ACCOUNT.replace("a", "а"),
        ACCOUNT.upper(),
        f" {ACCOUNT}",
        f"{ACCOUNT}\n",
        "system:serviceaccount:trusted-2:worker",
        "system:serviceaccount:trusted:",
        "system:serviceaccount::trusted",
        "system:node:trusted:worker",
        "trusted",
        "",
    ],
)
def test_security_209_only_the_exact_name_will_do(username: str, judge: dict[str, Any]) -> None:
    shown = token()
    judge[shown] = good(username)
    with pytest.raises(Forbidden):
        principal_of_service_account(shown)


@pytest.mark.parametrize("fault", [answer(500), answer(403), answer(429), reset, hang(1)])
def test_security_210_nobody_new_is_let_in_while_the_api_server_is_away(
    fault: Any, judge: dict[str, Any], fake: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policies.kube.client.REVIEW", (0.3, 0.3))
    known, new = token(number=1), token(number=2)
    judge[known] = judge[new] = good()
    principal_of_service_account(known)
    assert fake.fake
    fake.fake.fault(fault)
    with pytest.raises(Unavailable):
        principal_of_service_account(new)
    assert principal_of_service_account(known).caller == ACCOUNT


def test_security_211_a_withdrawn_token_is_good_for_a_minute_at_most(
    judge: dict[str, Any], fake: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert KEPT_SECONDS <= 60
    now = [1_000_000.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    monkeypatch.setattr(service_accounts, "_known", service_accounts.new_memory(lambda: now[0]))
    long, short = token(lives=3600), token(lives=20, number=1)
    judge[long] = judge[short] = good()
    for each in (long, short):
        principal_of_service_account(each)
    judge.clear()
    now[0] += 19
    principal_of_service_account(short)
    now[0] += 2
    with pytest.raises(Unauthenticated):
        principal_of_service_account(short)
    now[0] += 38
    principal_of_service_account(long)
    now[0] += 2
    with pytest.raises(Unauthenticated):
        principal_of_service_account(long)


def test_security_213_ten_thousand_bad_tokens_ask_little_and_leave_nothing(
    judge: Any, fake: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_accounts, "REVIEWS_PER_SECOND", 0.0)
    refused = {Unauthenticated: 0, Unavailable: 0}
    for number in range(10_000):
        try:
            principal_of_service_account(token(number=number))
        except (Unauthenticated, Unavailable) as error:
            refused[type(error)] += 1
    assert refused == {Unauthenticated: REVIEWS_AT_ONCE, Unavailable: 10_000 - REVIEWS_AT_ONCE}
    assert reviews(fake) == REVIEWS_AT_ONCE
    assert len(service_accounts._known) == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", ["X-Forwarded-User", "X-Remote-User", "Remote-User", "X-Omnia-User", "X-Omnia-User-ID"]
)
def test_security_214_nobody_is_who_a_header_says(name: str, judge: Any) -> None:
    refused = Client(headers={name: ACCOUNT}).get("/api/v1/memories", {"workspace": "w"})
    assert refused.status_code == 401


@pytest.mark.django_db(transaction=True)
def test_the_memory_tools_take_the_same_tokens(judge: dict[str, Any]) -> None:
    shown = {name: token(number=number) for number, name in enumerate(("listed", "other", "bad"))}
    judge[shown["listed"]] = good()
    judge[shown["other"]] = good("system:serviceaccount:agents:other")
    ping = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    with short_connections():
        answers = {name: posted({"Authorization": f"Bearer {each}"}, ping).status_code for name, each in shown.items()}
    assert answers == {"listed": 200, "other": 403, "bad": 401}


@pytest.mark.django_db
def test_security_215_a_service_token_opens_no_page_of_the_dashboard(judge: dict[str, Any]) -> None:
    shown = token()
    judge[shown] = good()
    page = bearer(shown).get("/")
    assert page.status_code == 302
    assert page["Location"].startswith("/login")


def test_without_an_audience_no_service_account_may_call(settings: Any, judge: dict[str, Any], fake: Api) -> None:
    settings.OMNIA = OmniaConfig()
    assert Client(headers={"Authorization": f"Bearer {token()}"}).get("/api/v1/memories").status_code == 401
    assert reviews(fake) == 0


@pytest.mark.cluster
def test_a_token_the_api_server_made_is_judged_by_it(plane: ControlPlane, real: Api) -> None:
    core: Any = client.CoreV1Api(plane.connect())
    core.create_namespace({"metadata": {"name": "trusted"}}, _request_timeout=10)
    core.create_namespaced_service_account("trusted", {"metadata": {"name": "worker"}}, _request_timeout=10)

    def made_for(audience: str) -> str:
        request = {"spec": {"audiences": [audience], "expirationSeconds": 600}}
        answer = core.create_namespaced_service_account_token("worker", "trusted", request, _request_timeout=10)
        return str(answer.status.token)

    shown = made_for(AUDIENCE)
    with use(real.cluster):
        principal = principal_of_service_account(shown)
        assert (principal.name, principal.caller) == (
            "serviceaccount:trusted/worker",
            "system:serviceaccount:trusted:worker",
        )
        for bad in (made_for("somebody-else"), shown[:-4] + "AAAA"):
            with pytest.raises(Unauthenticated):
                principal_of_service_account(bad)
