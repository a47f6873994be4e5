"""The MCP server: stateless streamable HTTP with JSON answers, its tools built anew for every request.

The official SDK speaks the protocol; what is here lists the tools of the caller's workspace, runs them off the
event loop, and turns an error into a result a model can read: `isError`, with the problem every route answers.
"""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Any

import orjson
from django.conf import settings
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from memories.domain.guidance import tool_guidance
from memories.mcp.caller import Caller
from memories.mcp.door import CALLER, Door
from memories.mcp.threads import DatabaseThreads
from memories.mcp.tools import TOOLS
from omnia.api.errors import handle
from omnia.api.principal import Role
from omnia.api.responses import dumps

PATH = "/mcp"
Context = ServerRequestContext[Any, Any]

_ANNOTATIONS = {
    "memory__remember": ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False),
    "memory__forget": ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False),
}
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def mcp_application() -> Door:
    """The ASGI application; one a process."""
    threads = DatabaseThreads(settings.OMNIA.mcp_threads)
    handlers = _Handlers(threads)
    server: Server[Any] = Server(
        "omnia-memory",
        title="Omnia Memory",
        version=str(settings.SPECTACULAR_SETTINGS["VERSION"]),
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        get_tool_input_schema=_no_header_schema,
    )
    inside = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the door's part
    )
    return Door(inside, threads=threads)


def _no_header_schema(name: str) -> None:
    """No argument of ours travels in a header; asked without a caller, nothing could be told of a schema anyway."""


class _Handlers:
    """The two requests that are ours."""

    def __init__(self, threads: DatabaseThreads) -> None:
        self._threads = threads

    async def list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        caller = _caller(context)
        try:
            caller.require_sound_body()
            tools = await self._threads.run(partial(_tools, caller))
        except Exception as exc:  # noqa: BLE001 - the one handler turns every error into a problem
            problem = _problem(exc, caller)
            ours = problem["status"] >= HTTPStatus.INTERNAL_SERVER_ERROR
            raise MCPError(INTERNAL_ERROR if ours else INVALID_PARAMS, problem["detail"], problem) from None
        return ListToolsResult(tools=tools)

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"There is no such tool; there are {', '.join(TOOLS)}.")
        caller, arguments = _caller(context), params.arguments or {}
        try:
            caller.require_sound_body()
            answer = await self._threads.run(partial(tool, arguments, caller))
        except Exception as exc:  # noqa: BLE001 - the one handler turns every error into a problem
            return _result(_problem(exc, caller), is_error=True)
        return _result(answer)


def _caller(context: Context) -> Caller:
    caller = context.request.scope[CALLER] if context.request else None
    assert isinstance(caller, Caller)  # noqa: S101 - the door let it in
    return caller


def _tools(caller: Caller) -> list[Tool]:
    """The tools of the caller's workspace, word for word as GET /memory/tool-guidance gives them."""
    guidance = tool_guidance(caller.admit(at_least=Role.VIEWER).policy)
    return [
        Tool(
            name=each.name,
            description=each.description,
            input_schema=dict(each.parameters),
            annotations=_ANNOTATIONS.get(each.name, _READS),
        )
        for each in guidance.tools
    ]


def _problem(exc: Exception, caller: Caller) -> dict[str, Any]:
    problem: dict[str, Any] = orjson.loads(handle(exc, {"request": caller}).content)
    return problem


def _result(answer: object, *, is_error: bool = False) -> CallToolResult:
    """The answer twice, as the protocol asks: as text for a model, as a value for a program."""
    text = dumps(answer)
    return CallToolResult(
        content=[TextContent(text=text.decode())], structured_content=orjson.loads(text), is_error=is_error
    )
