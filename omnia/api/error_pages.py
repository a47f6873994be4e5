"""Errors that arise outside an API view: problem+json for programs, a page for people.

`omnia.urls` names these as Django's error handlers and the settings as the CSRF failure view.
"""

from __future__ import annotations

import logging
import re
import sys

from django.http import HttpRequest, HttpResponse
from django.template import loader

from omnia.api.errors import PROBLEM_JSON, handle
from omnia.core.errors import Forbidden, OmniaError

log = logging.getLogger(__name__)

_PROGRAMS = re.compile(r"/(api|mcp|admin|openapi\.yaml|healthz|readyz|metrics)(/|$)")
_PAGES = {400: "400.html", 403: "403.html", 404: "404.html", 500: "500.html", 503: "503.html"}


def page(request: HttpRequest, exc: Exception, *, template: str | None = None) -> HttpResponse:
    """The answer for `exc` in the form the caller reads."""
    answer = handle(exc, {"request": request})
    if not _wants_problem(request):
        answer.headers["Content-Type"], answer.content = _readable(answer, template)
    return answer


def _readable(answer: HttpResponse, template: str | None) -> tuple[str, bytes]:
    """The page for an answer's status, or the status' own words."""
    try:
        text = loader.get_template(template or _PAGES.get(answer.status_code, "400.html")).render()
    except Exception:  # when even the error page fails, the caller still gets an answer
        log.exception("the page for %d cannot be rendered", answer.status_code)
        return "text/plain; charset=utf-8", answer.reason_phrase.encode()
    return "text/html; charset=utf-8", text.encode()


def _wants_problem(request: HttpRequest) -> bool:
    """Whether the caller is a program: by the address it asks for, or by what it accepts."""
    if _PROGRAMS.match(request.path_info):
        return True
    return request.get_preferred_type(["text/html", "application/json", PROBLEM_JSON]) not in ("text/html", None)


def failed(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400, handler403 and handler404."""
    return page(request, exception)


def crashed(request: HttpRequest) -> HttpResponse:
    """handler500; the store being away is a 503 here too."""
    return page(request, sys.exc_info()[1] or OmniaError(""))  # type: ignore[arg-type]


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """CSRF_FAILURE_VIEW."""
    refusal = Forbidden(
        "The CSRF token is missing or wrong; reload the page and send the form again.", code="csrf_failed"
    )
    return page(request, refusal, template="403_csrf.html")
