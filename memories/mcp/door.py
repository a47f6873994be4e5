"""What every request passes before the protocol sees it: address, origin, token, rate and strict JSON.

Host and Origin are checked by the same settings as the pages', so that a page elsewhere cannot reach a server on
somebody's own machine through a name that resolves to it (DNS rebinding). A refusal here is problem+json with
its status, as on every route; the log names neither arguments nor people.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from types import SimpleNamespace
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.http import HttpResponse
from django.http.request import split_domain_port, validate_host
from django.utils.http import is_same_domain

from memories.mcp.caller import Caller, Headers
from memories.mcp.threads import DatabaseThreads
from omnia.api import ratelimit
from omnia.api.authentication import principal_of_header
from omnia.api.errors import handle
from omnia.api.health import alive, readiness
from omnia.api.middleware import request_id_of
from omnia.api.parsing import parse_json
from omnia.api.principal import Principal
from omnia.core.errors import BadInput, Forbidden, MethodNotAllowed, TooLarge
from policies.api.authentication import service_account_in

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

CALLER = "omnia.caller"
"""Where in the ASGI scope the protocol's handlers find the Caller."""
_PROBES: dict[str, Callable[[], HttpResponse]] = {"/healthz": alive, "/readyz": readiness}

log = logging.getLogger("omnia.access")


class Door:
    """The ASGI application in front of the protocol's."""

    def __init__(self, inside: Application, *, threads: DatabaseThreads) -> None:
        self._inside = inside
        self._threads = threads

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inside(scope, receive, send)
        elif probe := _PROBES.get(scope["path"]):
            await _answer(await asyncio.to_thread(probe), send)
        else:
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        started, headers = perf_counter(), Headers.of(scope["headers"])
        request_id, status = request_id_of(headers.text("X-Request-ID")), 0

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                added = {b"x-request-id": request_id.encode(), b"cache-control": b"no-store"}
                kept = [pair for pair in message.get("headers", ()) if pair[0].lower() not in added]
                message = {**message, "headers": [*kept, *added.items()]}
            await send(message)

        try:
            principal = await self._admit(scope, headers)
            body = await _body(receive)
            fault = await self._threads.run(partial(_fault, body))
        except Exception as exc:  # noqa: BLE001 - the one handler turns every error into a problem
            await _answer(handle(exc, {"request": SimpleNamespace(request_id=request_id)}), told)
        else:
            ip, now = str((scope.get("client") or ("",))[0]), datetime.now(UTC)
            caller = Caller(principal, headers, request_id=request_id, ip=ip, now=now, fault=fault)
            await self._inside({**scope, CALLER: caller}, _replayed(body, receive), told)
        finally:
            _note(scope["method"], status, perf_counter() - started, request_id)

    async def _admit(self, scope: Message, headers: Headers) -> Principal:
        if scope["method"] != "POST":
            raise MethodNotAllowed("This address answers POST.", headers={"Allow": "POST"})
        _check_origin(headers)
        return await self._threads.run(partial(_authenticated, headers.text("Authorization")))


async def _body(receive: Receive) -> bytes:
    body, more = bytearray(), True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message["type"] == "http.request" and message.get("more_body", False)
        if len(body) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise TooLarge("The request body is larger than 16 MiB.")
    return bytes(body)


def _fault(body: bytes) -> BadInput | None:
    """What is wrong with a body, which must be as strict as any. Raises BadInput `invalid_json` for what is no JSON."""
    try:
        parse_json(body)
    except BadInput as error:
        if error.code == "invalid_json":
            raise
        return error
    return None


def _authenticated(authorization: str) -> Principal:
    principal = service_account_in(authorization) or principal_of_header(authorization)
    ratelimit.count(principal.caller)
    return principal


def _check_origin(headers: Headers) -> None:
    """Raises BadInput `host_not_allowed` (OMNIA_ALLOWED_HOSTS), Forbidden `origin_not_allowed`."""
    host, origin = headers.text("Host").lower(), headers.text("Origin").lower()
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        raise BadInput("This host is not served here; see OMNIA_ALLOWED_HOSTS.", code="host_not_allowed")
    if origin and not _trusted(urlsplit(origin), host=host):
        raise Forbidden("Pages of this origin may not call; see OMNIA_TRUSTED_ORIGINS.", code="origin_not_allowed")


def _trusted(origin: SplitResult, *, host: str) -> bool:
    known: Iterable[SplitResult] = map(urlsplit, settings.CSRF_TRUSTED_ORIGINS)
    return origin.netloc == host or any(
        origin.scheme == each.scheme and is_same_domain(origin.netloc, each.netloc.lstrip("*")) for each in known
    )


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body again for the protocol, then what the server says next."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again


async def _answer(response: HttpResponse, send: Send) -> None:
    content = response.content
    response.headers["Content-Length"] = str(len(content))
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def _note(method: str, status: int, seconds: float, request_id: str) -> None:
    known = method if method == "POST" else "OTHER"
    log.info("%s /mcp %d %.1fms %s", known, status, seconds * 1000, request_id)
