"""The MCP server as it is started: `deploy/entrypoint mcp`, the official client, a real network."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from psycopg.conninfo import make_conninfo

from omnia.api.principal import Role
from omnia.api.tokens import Issued, revoke_token
from omnia.child import Child, spawn
from omnia.core.actor import Actor
from tests.callers import issue
from tests.contract.neighbours import SENTINEL
from tests.support import Store, contents, opened_store

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.django_db(transaction=True)
Scenario = Callable[[Client], Awaitable[Any]]


@pytest.fixture(scope="module")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Child]:
    """The running server, on the tests' database; `name` is its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | {
        "DATABASE_URL": _database_url(),
        "REDIS_URL": settings.REDIS_URL,
        "OMNIA_EMBEDDING_PROVIDER": "none",
        "OMNIA_HOST": "127.0.0.1",
        "OMNIA_MCP_PORT": str(port),
        "OMNIA_MCP_THREADS": "2",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    log = tmp_path_factory.mktemp("mcp") / "mcp.log"
    child = spawn(f"http://127.0.0.1:{port}", ["deploy/entrypoint", "mcp"], log=log, env=environment, cwd=ROOT)
    try:
        child.await_ready(lambda: _answers(f"{child.name}/readyz"), seconds=60)
        yield child
    finally:
        child.stop(seconds=10)
    assert SENTINEL not in log.read_text()


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


def test_a_client_keeps_recalls_and_forgets(server: Child, store: Store) -> None:
    async def scenario(client: Client) -> list[dict[str, Any]]:
        assert len((await client.list_tools()).tools) == 5
        kept = await _call(client, "remember", content=f"Lives in {SENTINEL}", type="fact")
        memory = kept["memory"]["id"]
        found = await _call(client, "recall", query=SENTINEL)
        opened = await _call(client, "open", memory_id=memory)
        await _call(client, "forget", memory_id=memory)
        return [found, opened, await _call(client, "list")]

    found, opened, listed = _connected(server, store, issue(Role.EDITOR), scenario)
    assert contents(found) == [opened["content"]] == [f"Lives in {SENTINEL}"]
    assert listed["total"] == 0
    assert [row["content"] for row in store.rows()] == [f"Lives in {SENTINEL}"]  # in the trash


def test_more_calls_at_once_than_connections(server: Child, store: Store) -> None:
    async def scenario(client: Client) -> list[dict[str, Any]]:
        return await asyncio.gather(*(_call(client, "remember", content=f"Fact {n}") for n in range(20)))

    answers = _connected(server, store, issue(Role.EDITOR), scenario)
    assert {answer["action"] for answer in answers} == {"added"}
    assert store.browse()["total"] == 20


def test_a_token_revoked_is_refused_at_the_next_call(server: Child, store: Store) -> None:
    token = issue(Role.EDITOR)
    assert _post(server, store, token, b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}') == 200
    revoke_token(token.token.pk, actor=Actor("system:tests"), now=timezone.now())
    assert _post(server, store, token, b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}') == 401


def test_a_body_over_16_mib_is_refused(server: Child, store: Store) -> None:
    assert _post(server, store, issue(Role.EDITOR), b" " * (16 * 1024 * 1024 + 1)) == 413


def _connected(server: Child, store: Store, token: Issued, scenario: Scenario) -> Any:
    async def main() -> Any:
        http = httpx2.AsyncClient(headers=_headers(store, token))
        async with http, Client(streamable_http_client(f"{server.name}/mcp", http_client=http)) as client:
            return await scenario(client)

    return asyncio.run(main())


async def _call(client: Client, verb: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(f"memory__{verb}", arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content)


def _post(server: Child, store: Store, token: Issued, body: bytes) -> int:
    headers = _headers(store, token) | {"Content-Type": "application/json", "Accept": "application/json"}
    return httpx2.post(f"{server.name}/mcp", content=body, headers=headers).status_code


def _headers(store: Store, token: Issued) -> dict[str, str]:
    scope = {"X-Omnia-Workspace": str(store.workspace), "X-Omnia-User-ID": "u1"}
    return {"Authorization": f"Bearer {token.secret}", **scope}


def _answers(url: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - our own address
        return bool(answer.status == 200)
    return False


def _database_url() -> str:
    """The test database, as DATABASE_URL names one."""
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    return make_conninfo(**{name: str(connection.settings_dict[key]) for key, name in names.items()})
