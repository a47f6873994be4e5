"""Every route there is, against every kind of bad request: a 4xx problem and never a 5xx (design: Bad input).

The routes are read from the resolver, so a new one is covered the day it is added. Security cases J 205,
K 225, M 243 to 258, N 265.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from omnia.api.principal import Role
from omnia.api.views import ApiView
from tests.callers import bearer, caller

pytestmark = pytest.mark.django_db

_VALUES = {"uuid": "01a22e4f-594c-7c82-ac0e-e4e65dff07c8", "str": "nobody", "slug": "nobody", "int": "1"}


def _routes(entries: Sequence[Any], prefix: str = "") -> Iterator[tuple[str, type[ApiView]]]:
    for entry in entries:
        pattern = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from _routes(entry.url_patterns, pattern)
        view = getattr(entry.callback, "view_class", None) if isinstance(entry, URLPattern) else None
        if isinstance(view, type) and issubclass(view, ApiView):
            yield pattern, view


ROUTES = dict(_routes(get_resolver().url_patterns))
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
OPERATIONS = [(method, route) for route, view in ROUTES.items() for method in METHODS if hasattr(view, method.lower())]
WRITES = [(method, route) for method, route in OPERATIONS if method != "GET"]
NEED_A_BODY = [(method, route) for method, route in WRITES if not ROUTES[route].body_optional]
JUDGES = {"api/v1/policies/validate"}
"""What is wrong with a body is this route's answer."""


def address(route: str, **values: str) -> str:
    """A path of the route, about things that do not exist."""
    known = _VALUES | values
    return "/" + re.sub(r"<(?:(\w+):)?\w+>", lambda match: known.get(match[1] or "str", "nobody"), route)


def assert_problem(answer, *statuses: int) -> None:
    assert answer.status_code in statuses, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    body = answer.json()
    assert {"type", "title", "status", "detail", "code", "error", "request_id"} <= set(body)
    assert (body["status"], body["error"]) == (answer.status_code, body["detail"])
    assert re.fullmatch("[a-z0-9_]+", body["code"])
    assert body["request_id"] == answer["X-Request-ID"]
    assert answer["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


@pytest.fixture(scope="module")
def everyone():
    return Client()


@pytest.fixture
def admin():
    return caller(Role.PLATFORM_ADMIN)


def test_there_are_routes_to_look_at():
    assert "api/v1/memories" in ROUTES


@pytest.mark.parametrize(("method", "route"), OPERATIONS)
def test_nobody_gets_in_without_a_token(method, route):
    answer = Client().generic(method, address(route))
    assert_problem(answer, 401)
    assert answer["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(("method", "route"), OPERATIONS)
@pytest.mark.parametrize("secret", ["omnia_" + "a" * 43, "nonsense"])
def test_nobody_gets_in_with_a_bad_token(method, route, secret):
    assert_problem(bearer(secret).generic(method, address(route)), 401)


@pytest.mark.parametrize(
    ("method", "route"), [each for each in product((*METHODS, "OPTIONS"), ROUTES) if each not in OPERATIONS]
)
def test_a_method_the_route_has_not_is_refused(method, route, admin):
    answer = admin.generic(method, address(route))
    assert_problem(answer, 405)
    assert method not in answer["Allow"].split(", ")


UNSOUND = {
    "deep": b'{"a":' * 1000 + b"1" + b"}" * 1000,
    "surrogate": b'{"metadata":{"a":"\\ud800"}}',
    "nul": b'{"ignored":"\\u0000"}',
    "duplicate": b'{"a":1,"a":1}',
    "nan": b'{"a":NaN}',
    "infinite": b'{"a":1e999}',
    "huge": b'{"a":' + b"9" * 5000 + b"}",
    "utf8": b'{"a":"\xff"}',
    "bom": b"\xef\xbb\xbf{}",
    "cut": b'{"a":',
}


@pytest.mark.parametrize(("method", "route"), WRITES)
@pytest.mark.parametrize("kind", UNSOUND)
def test_an_unsound_body_is_refused(method, route, kind, admin):
    assert_problem(admin.generic(method, address(route), UNSOUND[kind], content_type="application/json"), 400)


SHAPES = [b"[]", b"null", b"1", b'"text"', b"[[{}]]"]


@pytest.mark.parametrize(("method", "route"), NEED_A_BODY)
@pytest.mark.parametrize("body", SHAPES)
def test_a_body_of_another_shape_is_refused(method, route, body, admin):
    assert_problem(admin.generic(method, address(route), body, content_type="application/json"), 400, 404, 422, 428)


ODD = [b"{}", b'{"scope":1,"workspace_id":[],"content":{},"metadata":"x","spec":[],"items":1,"limit":-1,"query":false}']


@pytest.mark.parametrize(("method", "route"), [each for each in NEED_A_BODY if each[1] not in JUDGES])
@pytest.mark.parametrize("body", ODD)
def test_fields_of_wrong_types_are_refused(method, route, body, admin):
    assert_problem(admin.generic(method, address(route), body, content_type="application/json"), 400, 404, 422, 428)


@pytest.mark.parametrize(("method", "route"), WRITES)
@pytest.mark.parametrize(
    "content_type", ["text/plain", "multipart/form-data; boundary=x", "application/json; charset=utf-7"]
)
def test_another_kind_of_body_is_refused(method, route, content_type, admin):
    assert_problem(admin.generic(method, address(route), b'{"a":1}', content_type=content_type), 415)


@pytest.mark.parametrize(("method", "route"), OPERATIONS)
@pytest.mark.parametrize("query", ["workspace=%00", "a=%ff", "limit=%ED%A0%80"])
def test_a_query_string_no_store_could_take_is_refused(method, route, query, admin):
    assert_problem(admin.generic(method, address(route), QUERY_STRING=query), 400)


READS = [route for method, route in OPERATIONS if method == "GET" and route.startswith("api/")]


@pytest.mark.parametrize("route", READS)
@pytest.mark.parametrize(
    "query", ["workspace=a&workspace=b", "workspace=nowhere", "workspace=nowhere&limit=-1&cursor=x", ""]
)
def test_a_read_of_nowhere_is_refused_or_empty(route, query, admin):
    answer = admin.get(address(route), QUERY_STRING=query)
    assert answer.status_code < 500
    if answer.status_code != 200:
        assert_problem(answer, 400, 404)


@pytest.mark.parametrize("route", [route for route in READS if "<uuid:" in route])
@pytest.mark.parametrize("value", ["1", "%00", "..%2f", "{id}", "a" * 10_000, "01a22e4f594c7c82ac0ee4e65dff07c8x"])
def test_what_is_no_id_is_not_found(route, value, admin):
    assert_problem(admin.get(address(route, uuid=value)), 404)


@pytest.mark.parametrize("route", [route for method, route in OPERATIONS if method == "POST"])
@pytest.mark.parametrize("key", ["", "k" * 256])
def test_every_post_minds_its_idempotency_key(route, key, admin):
    answer = admin.generic(
        "POST", address(route), b"{}", content_type="application/json", headers={"Idempotency-Key": key}
    )
    assert_problem(answer, 400)
    assert answer.json()["code"] == "invalid_idempotency_key"
