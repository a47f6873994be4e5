"""Every exception has its answer (design: Errors)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from django.core.exceptions import BadRequest, DisallowedHost, PermissionDenied, RequestDataTooBig
from django.db import DataError, InterfaceError, OperationalError, ProgrammingError
from django.http import Http404
from django.test import RequestFactory
from rest_framework import exceptions, serializers

from omnia.api.errors import handle
from omnia.core import errors as ours
from omnia.core.errors import FieldProblem
from omnia.logs import LineFormatter

TABLE = [
    (ours.BadInput("Say it so.", code="bad_word"), 400, "bad_word"),
    (ours.Unauthenticated("Who?"), 401, "unauthenticated"),
    (ours.Forbidden("No."), 403, "forbidden"),
    (ours.NotFound("Where?"), 404, "not_found"),
    (ours.Conflict("Taken."), 409, "conflict"),
    (ours.PreconditionFailed("Changed."), 412, "precondition_failed"),
    (ours.TooLarge("Big."), 413, "too_large"),
    (ours.Unprocessable("No sense."), 422, "unprocessable"),
    (ours.PreconditionRequired("If-Match."), 428, "precondition_required"),
    (ours.RateLimited("Slow."), 429, "rate_limited"),
    (ours.Unavailable("Later."), 503, "unavailable"),
    (exceptions.NotAuthenticated(), 401, "not_authenticated"),
    (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
    (exceptions.Throttled(), 429, "throttled"),
    (Http404(), 404, "not_found"),
    (PermissionDenied(), 403, "forbidden"),
    (RequestDataTooBig(), 413, "too_large"),
    (DisallowedHost("MARKER"), 400, "bad_request"),
    (BadRequest("MARKER"), 400, "bad_request"),
    (DataError("MARKER"), 400, "invalid_value"),
    (OperationalError("MARKER"), 503, "unavailable"),
    (InterfaceError("MARKER"), 503, "unavailable"),
    (ProgrammingError("MARKER"), 500, "internal_error"),
    (ours.OmniaError("MARKER"), 500, "internal_error"),
    (RecursionError("MARKER"), 500, "internal_error"),
]


def answer_to(exc):
    request = RequestFactory().get("/")
    setattr(request, "request_id", "r-1")  # noqa: B010 - as the middleware does: the class declares no such name
    return handle(exc, {"request": request})


@pytest.mark.parametrize(("exc", "status", "code"), TABLE, ids=[type(exc).__name__ for exc, _, _ in TABLE])
def test_the_table(exc, status, code, caplog):
    answer = answer_to(exc)
    body = orjson.loads(answer.content)
    assert (answer.status_code, body["status"], body["code"]) == (status, status, code)
    assert answer["Content-Type"] == "application/problem+json"
    assert set(body) == {"type", "title", "status", "detail", "code", "error", "request_id"}
    assert body["error"] == body["detail"] != ""
    assert body["request_id"] == "r-1"
    assert b"MARKER" not in answer.content
    assert not any("MARKER" in LineFormatter().format(line) for line in caplog.records)


def test_every_401_names_the_way_in():
    assert answer_to(ours.Unauthenticated("Who?"))["WWW-Authenticate"] == "Bearer"


def test_a_store_that_is_away_says_when_to_come_back():
    assert int(answer_to(OperationalError())["Retry-After"]) > 0


def test_the_places_at_fault_are_pointed_to():
    problem = FieldProblem("/a~1b/0", "too_long", "At most 3 characters.")
    assert orjson.loads(answer_to(ours.BadInput("Too long.", errors=[problem])).content)["errors"] == [
        {"pointer": "/a~1b/0", "code": "too_long", "detail": "At most 3 characters."}
    ]


class Inner(serializers.Serializer[Any]):
    n = serializers.IntegerField(max_value=3)


class Outer(serializers.Serializer[Any]):
    name = serializers.CharField()
    kind = serializers.ChoiceField(["a"])
    rows = Inner(many=True)


def test_a_serializers_findings_become_pointers():
    outer = Outer(data={"kind": "MARKER", "rows": [{"n": 1}, {"n": 9}, {"n": "x"}]})
    with pytest.raises(exceptions.ValidationError) as refusal:
        outer.is_valid(raise_exception=True)
    answer = answer_to(refusal.value)
    body = orjson.loads(answer.content)
    assert body["code"] == "invalid"
    assert b"MARKER" not in answer.content
    assert [(each["pointer"], each["code"]) for each in body["errors"]] == [
        ("/name", "required"),
        ("/kind", "invalid_choice"),
        ("/rows/1/n", "max_value"),
        ("/rows/2/n", "invalid"),
    ]
