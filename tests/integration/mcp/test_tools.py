"""The memory tools over MCP: the same services, answers and refusals as the REST routes (design: MCP)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client, MCPError

from memories.mcp.threads import DatabaseThreads
from omnia.api.principal import Role
from policies.models import MemoryPolicy
from policies.services.resolve import clear_cache
from tests.contract.neighbours import MINE, NEAR
from tests.integration.mcp.connecting import Agent, connected, short_connections
from tests.support import Store, contents, ids, opened_store

pytestmark = pytest.mark.django_db(transaction=True)

POLICY = NEAR | {
    "recall": {"inlineThresholdBytes": 1024},
    "toolGuidance": {"notes": "Be brief.", "tools": {"recall": "Ask first."}},
}


@pytest.fixture
def store() -> Iterator[Store]:
    with short_connections(), opened_store(policy=POLICY) as opened:
        yield opened


# --- The tools ----------------------------------------------------------------------------------


def test_the_tools_are_those_of_tool_guidance_word_for_word(store: Store) -> None:
    guidance = store.get("memory/tool-guidance")
    listed = Agent(store, role=Role.VIEWER).tools()
    assert listed == guidance["tools"]
    assert all("Notes for this workspace:\nBe brief." in tool["description"] for tool in listed)


def test_the_tools_follow_the_policy_without_a_restart(store: Store) -> None:
    agent = Agent(store)

    def note_at_length() -> None:
        clear_cache()
        MemoryPolicy.objects.update(spec={"tiers": {}, "toolGuidance": {"notes": "At length."}})

    async def scenario(client: Client) -> tuple[str, str]:
        before = (await client.list_tools()).tools[0].description or ""
        await DatabaseThreads(1).run(note_at_length)
        return before, (await client.list_tools(cache_mode="bypass")).tools[0].description or ""

    before, after = connected(agent.headers, scenario)
    assert before.endswith("Be brief.")
    assert after.endswith("At length.")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_protocol_version_is_served_without_a_session(store: Store, mode: str) -> None:
    async def scenario(client: Client) -> tuple[int, Any]:
        saved = await client.call_tool("memory__remember", {"content": "Lives in Lyon"})
        return len((await client.list_tools()).tools), saved.structured_content

    tools, saved = connected(Agent(store).headers, scenario, mode=mode)
    assert (tools, saved["action"]) == (5, "added")


# --- What each does -----------------------------------------------------------------------------


def test_a_memory_from_save_to_deletion(store: Store) -> None:
    agent = Agent(store)
    saved = agent.call(
        "remember", content="Likes parcels wrapped in paper", type="preference", metadata={"from": "chat"}
    )
    memory = saved["memory"]
    assert (saved["action"], memory["tier"], memory["metadata"]) == ("added", "user", {"from": "chat"})
    assert told(agent.call("recall", query="parcels", limit=1)) == told(store.recall("parcels", limit=1))
    assert agent.call("list") == store.browse()
    assert agent.call("open", memory_id=memory["id"]) == store.open(memory["id"])
    assert agent.call("forget", memory_id=memory["id"]) == {"status": "forgotten", "memory_id": memory["id"]}
    assert agent.call("list")["total"] == 0
    for verb in ("open", "forget"):
        assert agent.refused(verb, memory_id=memory["id"]) == "memory_not_found"


def told(recalled: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a recall but for the score, which ages with the clock."""
    return [{name: value for name, value in row.items() if name != "score"} for row in recalled["memories"]]


def test_the_answer_is_text_and_value_alike(store: Store) -> None:
    result = Agent(store).result("remember", content="Lives in Lyon")
    [text] = result.content
    assert json.loads(text.text) == result.structured_content  # type: ignore[union-attr]


def test_a_save_tells_action_and_near_duplicates(store: Store) -> None:
    agent = Agent(store)
    first = agent.call("remember", content="Ann keeps bees in the garden", type="fact")
    second = agent.call("remember", content="Ann keeps bees in the garden of her parents", type="fact")
    assert [each["id"] for each in second["potential_duplicates"]] == [first["memory"]["id"]]
    assert agent.call("remember", content="Ann keeps bees in the garden", type="fact")["action"] == "merged"


def test_a_correction_is_a_save_under_the_same_key(store: Store) -> None:
    agent, key = Agent(store), {"about_kind": "person", "about_key": "home town"}
    first = agent.call("remember", content="Lives in Lyon", **key)
    second = agent.call("remember", content="Lives in Nantes", **key)
    assert second["action"] == "auto_superseded"
    assert second["memory"]["id"] == first["memory"]["id"]
    assert contents(agent.call("list")) == ["Lives in Nantes"]
    assert agent.refused("remember", content="Lives in Nice", about_kind="person") == "invalid_about"


def test_a_save_without_a_type_is_general_where_there_is_one(store: Store) -> None:
    assert Agent(store).call("remember", content="Lives in Lyon")["memory"]["type"] == "general"
    with opened_store(policy={"schema": {"types": [{"name": "fact"}]}}) as other:
        assert Agent(other).refused("remember", content="Lives in Lyon") == "required"


def test_field_66_dedup_switched_off_is_off_here_too() -> None:
    with short_connections(), opened_store(policy={"dedup": {"embeddingSimilarity": {"enabled": False}}}) as store:
        answers = [Agent(store).call("remember", content=MINE, type="fact") for _ in range(2)]
        assert [answer["action"] for answer in answers] == ["added", "added"]
        assert not any("potential_duplicates" in answer for answer in answers)


def test_field_91_a_question_without_end_is_refused(store: Store) -> None:
    assert Agent(store).refused("recall", query="x " * 25_000) == "invalid"


def test_field_111_what_narrows_a_recall_narrows_it_here_too(store: Store) -> None:
    agent = Agent(store)
    for content, confidence in (("One bee", 0.1), ("The bee of a long story " + "and on " * 200, 0.5), ("No bee", 0.9)):
        store.save(content, confidence=confidence)
    for wish in ({"limit": 1}, {"preview": True}, {"min_confidence": 0.4}, {"types": ["preference"]}):
        assert told(agent.call("recall", query="bee", **wish)) == told(store.recall("bee", **wish))
    assert len(agent.call("recall", query="bee", limit=1)["memories"]) == 1
    assert len(agent.call("recall", query="bee", min_confidence=0.4)["memories"]) == 2
    assert any(row.get("has_full_body") for row in agent.call("recall", query="bee", preview=True)["memories"])


def test_lists_and_recalls_narrow_and_page(store: Store) -> None:
    agent = Agent(store)
    for content, kind in (("One bee", "fact"), ("Two wasps", "fact"), ("Three hornets", "preference")):
        agent.call("remember", content=content, type=kind, confidence=0.9 if kind == "fact" else 0.2)
    assert contents(agent.call("list", types=["fact"], limit=1, offset=1)) == ["One bee"]
    assert sorted(contents(agent.call("recall", query="", min_confidence=0.5))) == ["One bee", "Two wasps"]
    assert contents(agent.call("recall", query="", types=["preference"])) == ["Three hornets"]


def test_what_an_agent_recalls_it_can_open_and_what_is_the_persons_list_and_forget(store: Store) -> None:
    kept = {
        name: str(
            store.keep("The bees are in the garden", user=whose.get("user"), agent=whose.get("agent")).memory["id"]
        )
        for name, whose in {
            "user": {"user": "u1"},
            "user_for_agent": {"user": "u1", "agent": "a1"},
            "agent": {"agent": "a1"},
            "institutional": {},
        }.items()
    }
    other = str(store.keep("The bees are in the garden", user="u1", agent="a2").memory["id"])
    agent = Agent(store, agent="a1")
    assert set(ids(agent.call("recall", query="bees"))) == set(kept.values())
    assert set(ids(agent.call("list"))) == {kept["user"], kept["user_for_agent"]}
    for memory in kept.values():
        assert agent.call("open", memory_id=memory)["id"] == memory
    assert {agent.refused(verb, memory_id=other) for verb in ("open", "forget")} == {"memory_not_found"}
    for tier in ("agent", "institutional"):
        assert agent.refused("forget", memory_id=kept[tier]) == "memory_not_found"
    for tier in ("user", "user_for_agent"):
        assert agent.call("forget", memory_id=kept[tier])["status"] == "forgotten"


# --- Refusals -----------------------------------------------------------------------------------

BAD_CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("remember", {}, "invalid"),
    ("remember", {"content": "Lives in Lyon", "scope": {"virtual_user_id": "u2"}}, "invalid"),
    ("remember", {"content": "Lives in Lyon", "user_id": "u2"}, "invalid"),
    ("remember", {"content": "Lives in Lyon", "type": "nonsense"}, "type_not_declared"),
    ("remember", {"content": "Lives in Lyon", "category": "nonsense"}, "category_unknown"),
    ("remember", {"content": "Lives in Lyon", "confidence": 2}, "invalid"),
    ("remember", {"content": "Lives in Lyon", "confidence": "0.5"}, "invalid"),
    ("remember", {"content": " "}, "content_empty"),
    ("remember", {"content": "Lives in\x00 Lyon"}, "nul_character"),
    ("remember", {"content": "Lives in Lyon", "metadata": {"a": {"b": {}}}}, "invalid"),
    ("remember", {"content": "x" * 8193}, "body_too_large"),
    ("recall", {}, "invalid"),
    ("recall", {"query": "bees", "limit": -1}, "invalid"),
    ("recall", {"query": "bees", "types": []}, "invalid"),
    ("list", {"limit": 101}, "invalid"),
    ("list", {"cursor": "x"}, "invalid"),
    ("open", {"memory_id": "no id"}, "memory_not_found"),
    ("forget", {"memory_id": "0190b5d2-0000-7000-8000-000000000000"}, "memory_not_found"),
]


def test_a_bad_call_is_an_error_with_its_code(store: Store, subtests: pytest.Subtests) -> None:
    agent = Agent(store)
    for verb, arguments, code in BAD_CALLS:
        with subtests.test(verb=verb, arguments=str(arguments)[:80]):
            assert agent.refused(verb, **arguments) == code
            assert store.rows() == []


def test_an_unknown_argument_is_named(store: Store) -> None:
    problem = Agent(store).result("list", colour="red").structured_content
    assert problem["errors"] == [
        {
            "pointer": "/colour",
            "code": "unknown_field",
            "detail": "is not a field here; the fields are: types, limit, offset",
        }
    ]


def test_an_unknown_tool_is_a_protocol_error(store: Store) -> None:
    with pytest.raises(MCPError, match="no such tool"):
        Agent(store).result("export")
