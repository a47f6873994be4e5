"""The one place where an error becomes an answer: RFC 9457 problem+json (design: Errors).

A 4xx says what to change, and never repeats what was sent. A 5xx says nothing of its cause: no
message, no SQL; the request id leads to the log line, which holds the trace without its values.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from django.http.request import UnreadablePostError
from rest_framework.exceptions import APIException

from omnia.api.principal import Principal
from omnia.api.responses import json_response
from omnia.core.errors import BadInput, FieldProblem, Forbidden, NotFound, OmniaError, TooLarge, Unavailable

log = logging.getLogger(__name__)

PROBLEM_JSON = "application/problem+json"
_MOST_TOLD = 100
_RETRY_SOON = {"Retry-After": "2"}
_CHALLENGE = {"WWW-Authenticate": "Bearer"}
_REFUSALS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS})
_INTERNAL = "Something went wrong here; the log names it under this request id."
_UNAVAILABLE = "The store does not answer at the moment; try again."


def problem(
    *,
    status: int,
    code: str,
    detail: str,
    request_id: str,
    errors: Sequence[FieldProblem] = (),
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """The answer for one problem. `type` is about:blank (RFC 9457): `code` tells problems apart."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "error": detail,
    }
    if errors:
        body["errors"] = [each.as_json() for each in errors[:_MOST_TOLD]]
    body["request_id"] = request_id
    return json_response(body, status=status, headers=headers, content_type=PROBLEM_JSON)


def handle(exc: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """The answer for any exception; faults of ours and refusals of access are logged."""
    error, request = as_omnia_error(exc), context.get("request")
    request_id = getattr(request, "request_id", "")
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("%d %s %s", error.status, error.code, request_id, exc_info=exc)
    elif error.status in _REFUSALS:
        user = getattr(request, "user", None) if error.status == HTTPStatus.FORBIDDEN else None
        caller = user.caller if isinstance(user, Principal) else "-"
        log.warning("%d %s %s %s", error.status, error.code, caller, request_id)
    return problem(
        status=error.status,
        code=error.code,
        detail=_INTERNAL if error.status == HTTPStatus.INTERNAL_SERVER_ERROR else error.detail,
        request_id=request_id,
        errors=error.errors,
        headers=_CHALLENGE | error.headers if error.status == HTTPStatus.UNAUTHORIZED else error.headers,
    )


def as_omnia_error(exc: Exception) -> OmniaError:
    """The error of ours that says what `exc` means to the caller."""
    match exc:
        case OmniaError():
            return exc
        case APIException():
            return _from_drf(exc)
        case Http404():
            return NotFound("There is nothing at this address; /docs lists every route.")
        case PermissionDenied():
            return Forbidden("This caller may not do that.")
        case RequestDataTooBig():
            return TooLarge("The request body is larger than 16 MiB.")
        case SuspiciousOperation() | BadRequest() | UnreadablePostError():
            return BadInput("The request cannot be read.", code="bad_request")
        case DataError():
            return BadInput("A value does not fit where it is to be stored.", code="invalid_value")
        case OperationalError() | InterfaceError():
            return Unavailable(_UNAVAILABLE, headers=_RETRY_SOON)
    return OmniaError(_INTERNAL)


_WORDS = {"invalid_choice": "This is none of the choices."}
"""In place of the framework's words where those repeat what was sent."""
_KINDS = {kind.status: kind for kind in OmniaError.__subclasses__()}


def _from_drf(exc: APIException) -> OmniaError:
    """An exception of the framework's or of one of its serializers."""
    kind = _KINDS.get(exc.status_code, OmniaError)
    if not isinstance(exc.detail, (dict, list)):
        return kind(str(exc.detail), code=str(exc.detail.code))
    problems = _field_problems(exc.get_full_details(), "")
    return kind("; ".join(f"{each.pointer or '/'}: {each.detail}" for each in problems[:5]), errors=problems)


def _field_problems(details: Any, pointer: str) -> list[FieldProblem]:
    """One entry per rule a serializer found violated."""
    if isinstance(details, list):
        return [each for item in details for each in _field_problems(item, pointer)]
    if set(details) == {"message", "code"} and not isinstance(details["message"], (dict, list)):
        code = str(details["code"])
        return [FieldProblem(pointer, code, _WORDS.get(code) or str(details["message"]))]
    return [
        each
        for name, inner in details.items()
        for each in _field_problems(
            inner, pointer if name == "non_field_errors" else f"{pointer}/{_escaped(str(name))}"
        )
    ]


def _escaped(name: str) -> str:
    """A name as a step of an RFC 6901 pointer."""
    return name.replace("~", "~0").replace("/", "~1")
