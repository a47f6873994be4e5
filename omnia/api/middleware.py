"""What holds for every request and answer, whichever view is asked.

A request id that comes back, one line in the log and one count in the metrics (both name the route,
never the path or the query string: those carry ids), no caching of what was not said to be public,
and an early no to targets that no store or parser could take (security cases M).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import lru_cache
from time import perf_counter
from typing import Any
from urllib.parse import unquote_to_bytes

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django_htmx.middleware import HtmxMiddleware

from omnia import metrics
from omnia.api.error_pages import page
from omnia.core.errors import UnsupportedMedia
from omnia.core.ids import uuid7

log = logging.getLogger("omnia.access")

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_UTF8 = frozenset({"utf-8", "utf8"})
_FOR_PROGRAMS = ("/api/", "/mcp")
_NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

_count = lru_cache(maxsize=2048)(metrics.REQUESTS.labels)
_timer = lru_cache(maxsize=1024)(metrics.REQUEST_SECONDS.labels)

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def request_id_of(given: str) -> str:
    """The id a request brings, or a new one where it brings none that may be repeated."""
    return given if _REQUEST_ID.fullmatch(given) else uuid7().hex


class ContentPolicy(CSPMiddleware):
    """The Content-Security-Policy: the settings' for a page, "nothing" for what is none.

    Composing the settings' policy costs as much as the rest of an API request's middleware.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.headers.get("Content-Type", "").startswith("text/html"):
            framed: HttpResponseBase = super().process_response(request, response)
            return framed
        response.headers[HEADER] = _NOTHING
        return response


class BrowserState:
    """The session, its user, messages and htmx: what a browser brings.

    A program that shows a token at an API address has none of it and does not pay for it. Anywhere
    else the session alone counts, whatever else is sent (security case 215).
    """

    def __init__(self, get_response: GetResponse) -> None:
        self._without: GetResponse = get_response
        chain: Any = get_response
        for middleware in (HtmxMiddleware, MessageMiddleware, AuthenticationMiddleware, SessionMiddleware):
            chain = middleware(chain)
        self._with: GetResponse = chain

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "HTTP_AUTHORIZATION" in request.META and request.path_info.startswith(_FOR_PROGRAMS):
            return self._without(request)
        return self._with(request)


class RequestContext:
    """The middleware; outside everything that reads the request, inside what only adds headers."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = perf_counter()
        request_id = request_id_of(request.META.get("HTTP_X_REQUEST_ID", ""))
        request.request_id = request_id  # type: ignore[attr-defined]
        fault = _fault_of(request)
        response = page(request, fault) if fault else self._get_response(request)
        response.headers["X-Request-ID"] = request_id
        response.headers.setdefault("Cache-Control", "no-store")
        if isinstance(response, HttpResponse):
            response.headers.setdefault("Content-Length", str(len(response.content)))
        _note(request, response.status_code, perf_counter() - started, request_id)
        return response


def _fault_of(request: HttpRequest) -> Exception | None:
    """Why the request's target or charset cannot be taken, when it cannot."""
    if "\x00" in request.path_info:
        return Http404()
    if not _readable(request.META.get("QUERY_STRING", "")):
        return BadRequest()
    charset = (request.content_params or {}).get("charset")
    if charset is not None and charset.lower() not in _UTF8:
        return UnsupportedMedia("Send the body in UTF-8.")
    return None


def _readable(query: str) -> bool:
    """Whether a query string is UTF-8 without a NUL once its percent signs are read."""
    if "%" not in query and query.isascii():
        return "\x00" not in query
    try:
        return "\x00" not in unquote_to_bytes(query.encode("latin-1")).decode()
    except UnicodeError:
        return False


def _note(request: HttpRequest, status: int, seconds: float, request_id: str) -> None:
    method = request.method if request.method in _METHODS else "OTHER"
    match = request.resolver_match
    route = match.route if match else "unmatched"
    _count(method, route, str(status)).inc()
    _timer(method, route).observe(seconds)
    log.info("%s /%s %d %.1fms %s", method, route, status, seconds * 1000, request_id)
