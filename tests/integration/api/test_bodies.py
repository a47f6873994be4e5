"""Security cases M at a route: what is no sound body is refused with a problem, by every method that has one."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import RequestFactory
from rest_framework.request import Request

from omnia.api import parsing
from omnia.api.views import ApiView
from omnia.core.errors import BadInput, TooLarge
from omnia.wsgi import application
from tests.callers import caller, issue

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.integration.api.routes")]
ECHO = "/api/v1/echo"


def refusal(answer, status: int, code: str):
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer["Content-Type"] == "application/problem+json"


def test_an_object_is_read():
    answer = caller().post(ECHO, {"a": ["ü", None]}, content_type="application/json; charset=UTF-8")
    assert answer.json()["body"] == {"a": ["ü", None]}


@pytest.mark.parametrize("body", [b"[]", b"1", b'"a"', b"null", b"", b"{", b'{"a":1}{}'])
@pytest.mark.parametrize("method", ["POST"])
def test_what_is_not_one_object_is_refused(method, body):
    refusal(caller().generic(method, ECHO, body, content_type="application/json"), 400, "invalid_json")


def test_a_delete_may_come_without_a_body_and_not_with_an_unsound_one():
    client = caller()
    assert client.delete(ECHO).json()["body"] == {}
    refusal(client.delete(ECHO, b"{", content_type="application/json"), 400, "invalid_json")


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "application/xml",
        "json",
    ],
)
def test_another_kind_of_body_is_refused(content_type):
    refusal(caller().generic("POST", ECHO, b'{"a":1}', content_type=content_type), 415, "unsupported_media_type")


@pytest.mark.parametrize("charset", ["utf-7", "latin-1", "foo", "utf-16"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_charset_is_refused(method, charset):
    answer = caller().generic(
        method, ECHO, b"{}", content_type=f"application/json; charset={charset}", QUERY_STRING="a=%41"
    )
    refusal(answer, 415, "unsupported_media_type")


def test_a_body_over_16_mib_is_refused():
    answer = caller().generic(
        "POST", ECHO, b"{}", content_type="application/json", CONTENT_LENGTH=str(16 * 1024 * 1024 + 1)
    )
    refusal(answer, 413, "too_large")


@pytest.mark.parametrize("length", ["1", "3"])
def test_a_body_cut_short_by_a_lying_length_is_no_json(length):
    answer = caller().generic("POST", ECHO, b'{"a":1}', content_type="application/json", CONTENT_LENGTH=length)
    refusal(answer, 400, "invalid_json")


@pytest.mark.parametrize(("length", "code"), [("", "invalid_json"), ("-1", "bad_request"), ("abc", "bad_request")])
def test_a_length_that_is_none_is_no_length(length, code):
    answer = caller().generic("POST", ECHO, b'{"a":1}', content_type="application/json", CONTENT_LENGTH=length)
    refusal(answer, 400, code)


class Chunked:
    """A request whose body comes in chunks, with no length told."""

    def __init__(self, body: bytes, *, ends: bool = True) -> None:
        self.request = RequestFactory().post(ECHO, HTTP_TRANSFER_ENCODING="chunked", content_type="application/json")
        self.request.META.update({"wsgi.input": io.BytesIO(body), "wsgi.input_terminated": ends})
        del self.request.META["CONTENT_LENGTH"]


def test_a_chunked_body_is_read_to_its_end():
    request = Chunked(b'{"a":1}').request
    assert parsing.read_body(request) == b'{"a":1}' == request.body


def test_a_chunked_body_over_16_mib_is_refused(monkeypatch):
    monkeypatch.setattr(parsing, "LARGEST_BODY", 3)
    assert parsing.read_body(Chunked(b"123").request) == b"123"
    request = Chunked(b"1234" * 10).request
    with pytest.raises(TooLarge):
        parsing.read_body(request)
    assert request.META["wsgi.input"].read() == b"", "the client would be cut off instead of told"


def test_a_chunked_body_whose_end_no_server_marks_is_not_waited_for():
    with pytest.raises(BadInput) as refusal:
        parsing.read_body(Chunked(b"{}", ends=False).request)
    assert refusal.value.code == "length_required"


def test_a_view_may_do_without_a_body():
    class Optional(ApiView):
        body_optional = True

    view = Optional()
    view.request = Request(RequestFactory().post(ECHO))
    assert view.body == {}


@pytest.fixture
def kept_connection():
    """A request through the server's own entry ends the connection, and with it the test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.usefixtures("kept_connection")
@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json; charset=hex", 415),
        ("application/json; charset*=bogus''x", 415),
        ("application/json; a=" + "b" * 20_000, 201),
        ("application/json; charset=utf-8", 201),
    ],
)
def test_no_content_type_ends_in_a_bare_500(content_type, status):
    sent = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": ECHO,
        "QUERY_STRING": "a=%41",
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": "2",
        "HTTP_AUTHORIZATION": f"Bearer {issue().secret}",
    }
    environ = RequestFactory().get("/").environ | sent | {"wsgi.input": io.BytesIO(b"{}")}
    told: list[str] = []

    def start(line: str, headers: Any, exc_info: Any = None) -> Any:
        told.append(line)

    application(environ, start).close()
    assert told[0].startswith(str(status))
