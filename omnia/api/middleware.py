"""What every answer carries: a request id."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from omnia.core.ids import uuid7

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class RequestContext:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request.request_id = given if _REQUEST_ID.fullmatch(given) else uuid7().hex  # type: ignore[attr-defined]
        response = self._get_response(request)
        response.headers["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
        return response
