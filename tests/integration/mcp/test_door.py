"""What stands before the protocol: token, host, origin, method and strict JSON (design: Auth, Bad input)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from memories.mcp.application import PATH
from omnia.core.errors import RateLimited
from tests.callers import issue
from tests.integration.mcp.connecting import HOST, posted, short_connections

pytestmark = pytest.mark.django_db(transaction=True)

LIST = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'


@pytest.fixture(autouse=True)
def _closed_connections() -> Iterator[None]:
    with short_connections():
        yield


@pytest.fixture
def token() -> dict[str, str]:
    return {"Authorization": f"Bearer {issue().secret}"}


def problem(answer: Any) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"] == answer.json()["request_id"]
    assert answer.headers["cache-control"] == "no-store"
    return answer.status_code, answer.json()["code"]


WRONG = [None, "", "Bearer", "Bearer omnia_x", f"Bearer omnia_{'x' * 43}", "Basic dTpw"]


def test_a_wrong_token_is_refused(subtests: pytest.Subtests) -> None:
    for header in WRONG:
        with subtests.test(header=header):
            answer = posted({} if header is None else {"Authorization": header}, LIST)
            assert problem(answer) == (401, "unauthenticated")
            assert answer.headers["www-authenticate"] == "Bearer"


def test_only_post_is_answered(token: dict[str, str]) -> None:
    for method in ("GET", "DELETE", "PUT", "OPTIONS"):
        answer = posted(token, method=method)
        assert problem(answer) == (405, "method_not_allowed")
        assert answer.headers["allow"] == "POST"


def test_a_name_that_is_not_ours_is_refused(token: dict[str, str]) -> None:
    for host in ("evil.example", "evil.example:8001", "127.0.0.1.evil.example", "a b", ""):
        assert problem(posted({**token, "Host": host}, LIST)) == (400, "host_not_allowed")


def test_allowed_hosts_may_be_a_domain(token: dict[str, str], settings: Settings) -> None:
    settings.ALLOWED_HOSTS = [".corp.example"]
    assert problem(posted({**token, "Host": "corp.example.evil"}, LIST)) == (400, "host_not_allowed")
    assert posted({**token, "Host": "memory.corp.example:8443"}, LIST).status_code == 200


ORIGINS = [
    (f"http://{HOST}", True),
    ("https://console.corp.example", True),
    ("https://a.apps.example", True),
    ("http://console.corp.example", False),
    ("https://console.corp.example.evil", False),
    ("https://apps.example.evil", False),
    ("http://evil.example", False),
    ("http://127.0.0.1:9999", False),
    ("null", False),
]


def test_pages_of_other_origins_are_refused(
    token: dict[str, str], settings: Settings, subtests: pytest.Subtests
) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://console.corp.example", "https://*.apps.example"]
    for origin, allowed in ORIGINS:
        with subtests.test(origin=origin):
            answer = posted({**token, "Origin": origin}, LIST)
            if allowed:
                assert answer.status_code == 200
            else:
                assert problem(answer) == (403, "origin_not_allowed")


def test_a_body_that_is_no_json_is_refused(token: dict[str, str], subtests: pytest.Subtests) -> None:
    for body in ("", "{", LIST.replace("{}", '{"cursor": "\\ud800"}'), LIST.replace("{}", '{"x": NaN}')):
        with subtests.test(body=body):
            assert problem(posted(token, body)) == (400, "invalid_json")


def test_a_call_that_breaks_another_rule_of_bodies_is_an_error_with_its_code(
    token: dict[str, str], subtests: pytest.Subtests
) -> None:
    call = LIST.replace("tools/list", "tools/call").replace("{}", '{"name": "memory__list", "arguments": {"types": X}}')
    for value, code in {
        '["a", "\\u0000"]': "nul_character",
        '[{"a": 1, "a": 2}]': "duplicate_key",
        "[" * 100 + "]" * 100: "too_deep",
        str(2**64): "number_out_of_range",
    }.items():
        with subtests.test(code=code):
            result = posted(token, call.replace("X", value)).json()["result"]
            assert (result["isError"], result["structuredContent"]["code"]) == (True, code)
            refused = posted(token, LIST.replace("{}", f'{{"cursor": {value}}}')).json()
            assert refused["error"]["code"] < 0


def test_too_large_a_body_is_refused(token: dict[str, str], settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    assert problem(posted(token, LIST + " " * 100)) == (413, "too_large")


def test_the_rate_limit_counts_here_too(token: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def one_too_many(caller: str) -> None:
        raise RateLimited("Wait.", headers={"Retry-After": "7"})

    monkeypatch.setattr("omnia.api.ratelimit.count", one_too_many)
    answer = posted(token, LIST)
    assert problem(answer) == (429, "rate_limited")
    assert answer.headers["retry-after"] == "7"


def test_a_header_given_twice_is_refused(token: dict[str, str]) -> None:
    call = LIST.replace("tools/list", "tools/call").replace("{}", '{"name": "memory__list", "arguments": {}}')
    headers = [*token.items(), ("X-Omnia-User-ID", "u1"), ("X-Omnia-User-ID", "u2"), ("X-Omnia-Workspace", "w")]
    assert '"invalid_scope"' in posted(headers, call).text


def test_health_needs_no_token_and_other_addresses_are_none(token: dict[str, str]) -> None:
    assert posted({}, method="GET", path="/healthz").json() == {"status": "ok"}
    assert posted(token, LIST, path="/elsewhere").status_code == 404
    assert PATH == "/mcp"
