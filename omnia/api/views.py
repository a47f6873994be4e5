"""The view every API route derives from.

DRF's negotiation, rendering and versioning are left out: a handler returns its HttpResponse, an
error becomes problem+json, and a POST answers each Idempotency-Key once. What stays of DRF are its
seams: authentication, permission and parser classes, and the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from functools import cached_property
from io import BytesIO
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.views import APIView

from omnia.api import idempotency, ratelimit
from omnia.api.actors import actor_of
from omnia.api.errors import handle
from omnia.api.parsing import read_body
from omnia.api.principal import Principal
from omnia.api.query import Query
from omnia.core.actor import Actor
from omnia.core.errors import BadInput, Conflict, MethodNotAllowed, UnsupportedMedia
from omnia.core.scope import Scope

Handler = Callable[..., HttpResponseBase]
_NEEDS_BODY = frozenset({"POST", "PUT", "PATCH"})


class ApiView(APIView):
    """One route. Handlers are named after their methods and return an HttpResponse."""

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    body_optional: ClassVar[bool] = False
    """Whether a POST, PUT or PATCH of this route may come without a body."""

    reads_only: ClassVar[bool] = False
    """Whether its POST changes nothing: then it is answered anew, and no answer of it is kept."""
    tells_once: ClassVar[bool] = False
    """Whether its answer is shown this once, and not again for its Idempotency-Key."""

    request: Request
    _document: Any = None
    _answer_scopes: Collection[Scope] = ()
    now: datetime
    """The moment of the request (UTC): one clock reading for all that is done in it."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        self.args, self.kwargs = args, kwargs
        self.now = datetime.now(UTC)
        try:
            handler = self._admit(request)
            run = self._claim(request)
        except Exception as exc:  # noqa: BLE001 - the one handler turns every error into a problem
            return handle(exc, {"request": request})
        if isinstance(run, HttpResponse):
            return run
        response = self._respond(handler)
        if run:
            idempotency.finish(run, self._kept(response), scopes=self._answer_scopes)
        return response

    def _admit(self, request: HttpRequest) -> Handler:
        """The handler, once the caller may ask it and the body is sound, even where no handler reads it."""
        self.request = Request(request, authenticators=self.get_authenticators())
        self.check_permissions(self.request)
        self.check_throttles(self.request)
        method = (request.method or "").lower()
        handler: Handler | None = getattr(self, method, None) if method in self.http_method_names else None
        if handler is None:
            allowed = ", ".join(self.allowed_methods)
            raise MethodNotAllowed(f"This address answers {allowed}.", headers={"Allow": allowed})
        self._document = self._parse(request)
        return handler

    def check_throttles(self, request: Request) -> None:
        ratelimit.count(self.principal.caller)

    def _claim(self, request: HttpRequest) -> idempotency.Run | HttpResponse | None:
        """What the Idempotency-Key of a POST allows: to run, or the first answer again."""
        key = request.META.get(idempotency.HEADER)
        if key is None or request.method != "POST":
            return None
        idempotency.require_key(key)
        if self.reads_only:
            return None
        return idempotency.begin(request, key=key, caller=self.principal.caller, body=request.body)

    def _kept(self, response: HttpResponseBase) -> HttpResponseBase:
        """What a retry under the same key is answered. A person's role may be gone by then, so they are told no more."""
        if response.status_code >= 400 or not (self.tells_once or self.principal.user is not None):
            return response
        done = Conflict("This was done under the same Idempotency-Key; its answer is not kept.", code="already_done")
        return handle(done, {"request": self.request._request})

    def _respond(self, handler: Handler) -> HttpResponseBase:
        try:
            return handler(self.request, *self.args, **self.kwargs)
        except Exception as exc:  # noqa: BLE001 - the one handler turns every error into a problem
            return handle(exc, {"request": self.request._request})

    @cached_property
    def principal(self) -> Principal:
        """The authenticated caller."""
        principal = self.request.user
        assert isinstance(principal, Principal)  # noqa: S101 - the permission classes saw to it
        return principal

    @cached_property
    def actor(self) -> Actor:
        """The caller as audit rows name it."""
        meta = self.request.META
        return actor_of(
            self.principal,
            request_id=getattr(self.request._request, "request_id", ""),
            ip=meta.get("REMOTE_ADDR", ""),
            user_agent=meta.get("HTTP_USER_AGENT", ""),
            grants=meta.get("HTTP_X_CONSENT_GRANTS", ""),
        )

    @cached_property
    def query(self) -> Query:
        """The query string, read strictly."""
        return Query(self.request._request.GET)

    @property
    def body(self) -> dict[str, Any]:
        """The body's JSON object. Raises BadInput when it is another kind of value, or missing where one is needed."""
        document = self._document
        if document is None and (self.body_optional or self.request.method not in _NEEDS_BODY):
            return {}
        if not isinstance(document, dict):
            raise BadInput("The body must be one JSON object.", code="invalid_json")
        return document

    def _parse(self, request: HttpRequest) -> Any:
        """The body's document, None without one; by the parser class of its media type."""
        if request.method in ("GET", "HEAD"):
            return None
        content = read_body(request)
        if not content:
            return None
        media_type = (request.content_type or "").lower()
        for parser in self.parser_classes:
            if parser.media_type == media_type:
                return parser().parse(BytesIO(content), media_type, {})
        accepted = ", ".join(str(parser.media_type) for parser in self.parser_classes)
        raise UnsupportedMedia(f"Send the body with Content-Type: {accepted}.", headers={"Accept": accepted})

    def answers_for(self, *scopes: Scope) -> None:
        """Names whose answer this is, so that it goes when any of them is forgotten."""
        self._answer_scopes = scopes
