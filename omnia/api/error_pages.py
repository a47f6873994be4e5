"""Errors that arise outside an API view: problem+json for programs, a page for people.

`omnia.urls` names these as Django's error handlers and the settings as the CSRF failure view.
"""

from __future__ import annotations

import logging
import re
import sys

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template import loader

from omnia.api.errors import PROBLEM_JSON, handle
from omnia.core.errors import Forbidden, OmniaError

log = logging.getLogger(__name__)

_PROGRAMS = re.compile(r"/(api|mcp|admin|openapi\.yaml|healthz|readyz|metrics)(/|$)")
_PAGES = {400: "400.html", 403: "403.html", 404: "404.html", 500: "500.html", 503: "503.html"}


def page(request: HttpRequest, exc: Exception, *, template: str | None = None) -> HttpResponseBase:
    """The answer for `exc` in the form the caller reads."""
    answer = handle(exc, {"request": request})
    if _wants_problem(request):
        return answer
    status = answer.status_code
    try:
        text = loader.get_template(template or _PAGES.get(status, "400.html")).render()
    except Exception:  # when even the error page fails, the caller still gets an answer
        log.exception("the page for %d cannot be rendered", status)
        return HttpResponse(answer.reason_phrase, status=status, content_type="text/plain; charset=utf-8")
    return HttpResponse(text, status=status)


def _wants_problem(request: HttpRequest) -> bool:
    """Whether the caller is a program: by the address it asks for, or by what it accepts."""
    if _PROGRAMS.match(request.path_info):
        return True
    return request.get_preferred_type(["text/html", "application/json", PROBLEM_JSON]) not in ("text/html", None)


def failed(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """handler400, handler403 and handler404."""
    return page(request, exception)


def crashed(request: HttpRequest) -> HttpResponseBase:
    """handler500; the store being away is a 503 here too."""
    return page(request, sys.exc_info()[1] or OmniaError(""))  # type: ignore[arg-type]


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    """CSRF_FAILURE_VIEW."""
    refusal = Forbidden(
        "The CSRF token is missing or wrong; reload the page and send the form again.", code="csrf_failed"
    )
    return page(request, refusal, template="403_csrf.html")
