"""Whose memories a tool works on: the token's word, then the headers'; nobody else's, nor in the log (design: MCP scope)."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import MCPError

from omnia.api.principal import Role
from tests.contract.neighbours import MINE, NEAR, SENTINEL, THEIRS, surround
from tests.integration.mcp.connecting import Agent, posted, short_connections
from tests.support import Store, contents, opened_store, select

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def store() -> Iterator[Store]:
    with short_connections(), opened_store(policy=NEAR) as opened:
        yield opened


def test_viewers_read_and_do_not_write(store: Store) -> None:
    memory = store.save(MINE)["memory"]["id"]
    viewer = Agent(store, role=Role.VIEWER)
    assert contents(viewer.call("recall", query="bees")) == [MINE]
    assert viewer.refused("remember", content="Lives in Lyon") == "role_too_small"
    assert viewer.refused("forget", memory_id=memory) == "role_too_small"
    assert contents(viewer.call("list")) == [MINE]


def test_a_bound_token_of_one_workspace_says_everything_itself(store: Store) -> None:
    bound = Agent(store, workspaces=frozenset({store.workspace}), subject="u1")
    bound.without("X-Omnia-Workspace", "X-Omnia-User-ID")
    saved = bound.call("remember", content=MINE)["memory"]
    assert saved["scope"] == {"workspace_id": str(store.workspace), "virtual_user_id": "u1"}
    assert contents(bound.call("recall", query="bees")) == [MINE]


def test_a_bound_token_acts_as_its_user_only(store: Store) -> None:
    store.save(THEIRS, user="u2")
    bound = Agent(store, user="u2", subject="u1")
    for verb, arguments in {"remember": {"content": MINE}, "recall": {"query": "bees"}, "list": {}}.items():
        assert bound.refused(verb, **arguments) == "bound_to_a_user"
    with pytest.raises(MCPError, match="bound to another user"):
        bound.tools()


@pytest.mark.parametrize(
    ("missing", "code"), [("X-Omnia-Workspace", "workspace_required"), ("X-Omnia-User-ID", "user_required")]
)
def test_an_incomplete_scope_is_refused(store: Store, missing: str, code: str) -> None:
    store.keep(THEIRS)
    agent = Agent(store).without(missing)
    for verb, arguments in {"remember": {"content": MINE}, "recall": {"query": "bees"}, "list": {}}.items():
        assert agent.refused(verb, **arguments) == code
    with pytest.raises(MCPError) as refused:
        agent.tools()
    assert refused.value.data["code"] == code


def test_an_empty_or_odd_user_is_nobody(store: Store) -> None:
    agent = Agent(store)
    for user, code in {
        "": "user_required",
        " ": "invalid_scope",
        "u1\tu2": "invalid_scope",
        "x" * 254: "invalid_scope",
    }.items():
        agent.headers["X-Omnia-User-ID"] = user
        assert agent.refused("list") == code


def test_a_foreign_workspace_does_not_exist(store: Store) -> None:
    with opened_store() as other:
        stranger = Agent(store, workspaces=frozenset({other.workspace}))
        assert stranger.refused("list") == "workspace_not_found"


@pytest.mark.parametrize("agent", [None, "a1"])
def test_field_21_no_tool_shows_another_persons_memory(store: Store, agent: str | None) -> None:
    others = surround(store)
    mine, shown = Agent(store, agent=agent), []
    shown.append(mine.call("remember", content=MINE, type="fact"))
    for query in (THEIRS, SENTINEL, "", "bees"):
        shown.append(mine.call("recall", query=query, limit=100))
        shown.append(mine.call("recall", query=query, limit=100, preview=True))
    shown.append(mine.call("list", limit=100))
    assert SENTINEL not in json.dumps(shown)
    for memory in others:
        assert mine.refused("open", memory_id=str(memory)) == "memory_not_found"
        assert mine.refused("forget", memory_id=str(memory)) == "memory_not_found"
    assert len([row for row in store.rows() if SENTINEL in row["content"]]) == 7


def test_the_audit_names_the_token_and_the_memory(store: Store) -> None:
    memory = Agent(store, name="helpdesk").call("remember", content=MINE)["memory"]["id"]
    [row] = select("SELECT event, actor, memory_id::text AS memory FROM omnia_audit WHERE event = 'memory_created'")
    assert row == {"event": "memory_created", "actor": "token:helpdesk", "memory": memory}


_CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
MALFORMED: list[dict[str, Any]] = [
    {SENTINEL: SENTINEL},
    _CALL | {"method": SENTINEL, "params": {"text": SENTINEL}},
    _CALL | {"params": {"name": 7, "arguments": {"content": SENTINEL}}},
    _CALL | {"params": {"name": SENTINEL, "arguments": [SENTINEL]}},
    _CALL | {"params": SENTINEL},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [SENTINEL], "reason": SENTINEL}},
    {"jsonrpc": "2.0", "id": 1, "result": {"text": SENTINEL}},
]


def test_no_memory_text_or_person_reaches_the_log(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("mcp", "httpx2", "httpcore2", "asyncio"):  # of the client too, which logs what it sends when told to
        caplog.set_level(logging.WARNING, logger=name)
    caplog.set_level(logging.DEBUG)
    agent = Agent(store, user="person-77")
    agent.call("remember", content=f"{SENTINEL} likes tea")
    agent.call("recall", query=SENTINEL)
    agent.refused("remember", content=SENTINEL, type="nonsense")
    agent.refused("remember", content=f"{SENTINEL}\x00")
    for message in MALFORMED:
        assert posted(agent.headers, json.dumps(message)).status_code in (200, 202, 400)
    assert "POST /mcp 200" in caplog.text
    assert SENTINEL not in caplog.text
    assert "person-77" not in caplog.text
