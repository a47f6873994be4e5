"""The official client against our server, both in this process; the database work runs in real threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import httpx2
import pytest
from django.db import connections
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from memories.mcp.application import mcp_application
from omnia.api.principal import Role
from tests.callers import issue
from tests.support import Store

T = TypeVar("T")
Headers = Mapping[str, str] | Sequence[tuple[str, str]]
HOST = "127.0.0.1:8001"
URL = f"http://{HOST}/mcp"


@contextmanager
def short_connections() -> Iterator[None]:
    """Connections of threads end with their work: the tests' database can be dropped afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(connections.settings["default"], "CONN_MAX_AGE", 0)
        yield


def connected(headers: Mapping[str, str], scenario: Callable[[Client], Awaitable[T]], **options: Any) -> T:
    """What `scenario` makes of a client that sends `headers`; `options` are the client's. Raises its MCPError."""

    async def main() -> T | MCPError:
        async with served(headers) as http, Client(streamable_http_client(URL, http_client=http), **options) as client:
            try:
                return await scenario(client)
            except MCPError as error:  # raised here it would come out wrapped in the client's task groups
                return error

    outcome = asyncio.run(main())
    if isinstance(outcome, MCPError):
        raise outcome
    return outcome


def posted(headers: Headers, content: str = "", *, method: str = "POST", path: str = "/mcp") -> Any:
    """The bare HTTP answer."""

    async def main() -> httpx2.Response:
        async with served(headers) as http:
            http.headers.update({"Accept": "application/json", "Content-Type": "application/json"})
            return await http.request(method, path, content=content)

    return asyncio.run(main())


@asynccontextmanager
async def served(headers: Headers) -> AsyncIterator[httpx2.AsyncClient]:
    """An HTTP client of a server that lives as long; the server is started and stopped as a process would be."""
    application, asked, told = mcp_application(), asyncio.Queue[Any](), asyncio.Queue[Any]()
    lifespan = asyncio.create_task(application({"type": "lifespan", "asgi": {"version": "3.0"}}, asked.get, told.put))
    await asked.put({"type": "lifespan.startup"})
    assert (await told.get())["type"] == "lifespan.startup.complete"
    transport = httpx2.ASGITransport(app=application)
    try:
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers=headers) as http:
            yield http
    finally:
        await asked.put({"type": "lifespan.shutdown"})
        await lifespan


class Agent:
    """An agent that talks for one user of a store; each call is a session of its own."""

    def __init__(self, store: Store, *, user: str | None = "u1", agent: str | None = None, role: Role = Role.EDITOR,
                 **wishes: Any) -> None:  # fmt: skip
        self.store = store
        self.headers = {
            "Authorization": f"Bearer {issue(role, **wishes).secret}",
            "X-Omnia-Workspace": str(store.workspace),
        }
        self.headers |= {"X-Omnia-User-ID": user} if user else {}
        self.headers |= {"X-Omnia-Agent-ID": agent} if agent else {}

    def without(self, *names: str) -> Agent:
        for name in names:
            del self.headers[name]
        return self

    def tools(self) -> list[dict[str, Any]]:
        async def scenario(client: Client) -> list[dict[str, Any]]:
            listed = (await client.list_tools()).tools
            return [{"name": t.name, "description": t.description, "parameters": t.input_schema} for t in listed]

        return connected(self.headers, scenario)

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """The JSON of an answer that is no error."""
        result = self.result(verb, **arguments)
        assert not result.is_error, result.content
        return dict(result.structured_content)

    def refused(self, verb: str, **arguments: Any) -> str:
        """The code of an answer that is an error."""
        result = self.result(verb, **arguments)
        assert result.is_error
        return str(result.structured_content["code"])

    def result(self, verb: str, **arguments: Any) -> CallToolResult:
        return connected(self.headers, lambda client: client.call_tool(f"memory__{verb}", arguments))
