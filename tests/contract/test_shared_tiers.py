"""/agent-memories and /institutional/memories: the shared tiers' own routes (behaviour J 127 to 134)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from omnia.api.principal import Role
from omnia.core.edition import Edition
from tests.callers import caller
from tests.support import Store, contents, opened_store, run

pytestmark = pytest.mark.django_db
AGENT, INSTITUTIONAL = "agent-memories", "institutional/memories"
TIERS = [AGENT, INSTITUTIONAL]
SCHEMA = {"schema": {"version": "v1", "types": [
    {"name": "policy", "allowedTiers": ["institutional"]}, {"name": "fact", "allowedTiers": ["agent", "user"]},
]}}  # fmt: skip


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


@pytest.mark.parametrize("path", TIERS)
def test_a_memory_is_the_operators_and_nobodys_own(store: Store, path: str) -> None:
    """Behaviour J 127."""
    memory = save(store, path, provenance="user_requested", virtual_user_id="u1",
                  scope={"user_id": "u1"}, share=True)["memory"]  # fmt: skip
    assert (memory["source_type"], memory["evidence_class"]) == ("operator_curated", "curated")
    whose = {"workspace_id": str(store.workspace)} | ({"agent_id": "a1"} if path == AGENT else {})
    assert memory["scope"] == whose
    assert memory["tier"] == ("agent" if path == AGENT else "institutional")
    [row] = store.rows("user_id, agent_id")
    assert row == {"user_id": None, "agent_id": whose.get("agent_id")}


@pytest.mark.parametrize("path", TIERS)
def test_save_list_open_forget(store: Store, path: str) -> None:
    first = save(store, path, "Closed on Sundays")["memory"]["id"]
    second = save(store, path, "Speaks French")["memory"]["id"]
    store.save("Keeps bees", agent="a1")
    listed = ask(store, path)
    assert (contents(listed), listed["total"], listed["next"]) == (["Speaks French", "Closed on Sundays"], 2, None)
    assert ask(store, f"{path}/{first}")["content"] == "Closed on Sundays"
    assert ask(store, f"{path}/{first}", method="DELETE") == {"status": "forgotten", "memory_id": first}
    assert contents(ask(store, path)) == ["Speaks French"]
    for method in ("GET", "DELETE"):
        assert ask(store, f"{path}/{first}", method=method, status=404)["code"] == "memory_not_found"
    assert ask(store, f"{path}/{second}")["id"] == second


@pytest.mark.parametrize("path", TIERS)
def test_a_write_and_a_forgetting_are_recalled_at_once(store: Store, path: str) -> None:
    """Behaviour J 133: nothing stale is served after a write or a delete."""
    store.recall("Sundays", agent="a1")
    memory = save(store, path, "Closed on Sundays")["memory"]["id"]
    assert contents(store.recall("Sundays", agent="a1")) == ["Closed on Sundays"]
    ask(store, f"{path}/{memory}", method="DELETE")
    assert contents(store.recall("Sundays", agent="a1")) == []


OTHERS: list[tuple[str, str | None, str | None]] = [
    # the route, the owner of the row it is asked to delete
    (INSTITUTIONAL, "u1", None),
    (INSTITUTIONAL, "u1", "a1"),
    (INSTITUTIONAL, None, "a1"),
    (AGENT, "u1", None),
    (AGENT, "u1", "a1"),
    (AGENT, None, None),
]


@pytest.mark.parametrize(("path", "user", "agent"), OTHERS)
def test_a_row_of_another_kind_is_not_deleted(store: Store, path: str, user: str | None, agent: str | None) -> None:
    """Behaviour J 129."""
    memory = store.keep("Keeps bees", user=user, agent=agent).memory["id"]
    assert ask(store, f"{path}/{memory}", method="DELETE", status=400)["code"] == "other_tier"
    assert ask(store, f"{path}/{memory}", status=404)["code"] == "memory_not_found"
    [row] = store.rows("retired_at")
    assert row["retired_at"] is None


@pytest.mark.parametrize("path", TIERS)
def test_what_is_not_there_for_the_route_is_not_found(store: Store, path: str) -> None:
    gone = store.keep("Keeps bees", user="u1").memory["id"]
    run("UPDATE memories_memory SET expires_at = now() WHERE id = %s", gone)
    with opened_store() as other:
        elsewhere = other.keep("Closed on Sundays", agent="a1" if path == AGENT else None).memory["id"]
    another_agents = store.keep("Speaks French", agent="a2").memory["id"] if path == AGENT else gone
    for memory in (gone, elsewhere, another_agents, "01a22e4f-594c-7c82-ac0e-e4e65dff07c8", "nonsense"):
        ask(store, f"{path}/{memory}", method="DELETE", status=404)


@pytest.mark.parametrize("path", TIERS)
def test_one_key_is_one_row_and_two_keys_are_two(store: Store, path: str) -> None:
    """Behaviour J 130."""
    save(store, path, "Closed on Sundays", about={"kind": "shop", "key": "hours"})
    again = save(store, path, "Closed on Mondays", about={"kind": "Shop", "key": " Hours"})
    assert again["action"] == "auto_superseded"
    save(store, path, "In Lyon", about={"kind": "shop", "key": "city"})
    assert contents(ask(store, path)) == ["In Lyon", "Closed on Mondays"]


@pytest.mark.parametrize("path", TIERS)
def test_near_duplicates_merge_inside_the_tier_only(store: Store, path: str) -> None:
    store.save("Closed on Sundays", provenance="operator_curated")
    assert save(store, path, "Closed on Sundays")["action"] == "added"
    assert save(store, path, "Closed on Sundays")["action"] == "merged"


@pytest.mark.parametrize("path", TIERS)
def test_an_expiry_lies_ahead_and_is_kept(store: Store, path: str) -> None:
    """Behaviour J 131."""
    now = datetime.now(UTC)
    past, ahead = ((now + timedelta(days=days)).isoformat() for days in (-1, 3))
    assert save(store, path, expires_at=past, status=400)["code"] == "expires_in_the_past"
    assert "expires_at" not in save(store, path, "One")["memory"]
    kept = save(store, path, "Two", expires_at=ahead)["memory"]["expires_at"]
    assert datetime.fromisoformat(kept) == datetime.fromisoformat(ahead)


def test_the_tiers_default_expiry_applies() -> None:
    tiers = {"agent": {"ttl": {"default": "2d"}}, "institutional": {"ttl": {"default": "9d"}}}
    with opened_store(policy={"tiers": tiers}) as store:
        for path, days in ((AGENT, 2), (INSTITUTIONAL, 9)):
            memory = save(store, path)["memory"]
            span = datetime.fromisoformat(memory["expires_at"]) - datetime.fromisoformat(memory["created_at"])
            assert span == timedelta(days=days)


TYPES = [
    # policy, route, type, whether it is taken (spec: How the schema is enforced)
    (None, INSTITUTIONAL, "anything at all", True),
    (None, INSTITUTIONAL, "preference", True),
    (None, INSTITUTIONAL, "document", True),
    (None, AGENT, "anything at all", False),
    (None, AGENT, "document", False),
    (None, AGENT, "preference", True),
    (SCHEMA, INSTITUTIONAL, "policy", True),
    (SCHEMA, INSTITUTIONAL, "fact", False),
    (SCHEMA, INSTITUTIONAL, "anything at all", False),
    (SCHEMA, AGENT, "fact", True),
    (SCHEMA, AGENT, "policy", False),
]


@pytest.mark.parametrize(("policy", "path", "type_name", "taken"), TYPES)
def test_the_schema_is_enforced_by_route(policy: dict[str, Any] | None, path: str, type_name: str, taken: bool) -> None:
    with opened_store(policy=policy) as store:
        answer = save(store, path, type=type_name, status=201 if taken else 400)
        assert taken or answer["code"] in ("type_not_declared", "tier_not_allowed")


ROLES = [
    # role, reading, writing
    (Role.VIEWER, 200, 403),
    (Role.EDITOR, 200, 403),
    (Role.OWNER, 200, 201),
    (Role.PLATFORM_ADMIN, 200, 201),
]


@pytest.mark.parametrize(("role", "reading", "writing"), ROLES)
@pytest.mark.parametrize("path", TIERS)
def test_viewers_read_and_owners_write(store: Store, path: str, role: Role, reading: int, writing: int) -> None:
    memory = save(store, path)["memory"]["id"]
    other = Store(store.workspace, caller(role))
    ask(other, path, status=reading)
    ask(other, f"{path}/{memory}", status=reading)
    save(other, path, "Another", status=writing)
    ask(other, f"{path}/{memory}", method="DELETE", status=200 if writing == 201 else writing)


@pytest.mark.parametrize("path", TIERS)
def test_a_bound_token_reads_and_does_not_write(store: Store, path: str) -> None:
    memory = save(store, path)["memory"]["id"]
    bound = Store(store.workspace, caller(Role.OWNER, subject="u1"))
    assert contents(ask(bound, path)) == ["Closed on Sundays"]
    assert save(bound, path, status=403)["code"] == "bound_to_a_user"
    assert ask(bound, f"{path}/{memory}", method="DELETE", status=403)["code"] == "bound_to_a_user"


def test_the_institutional_routes_are_enterprise(store: Store, settings: Any) -> None:
    memory = save(store, INSTITUTIONAL)["memory"]["id"]
    settings.OMNIA = replace(settings.OMNIA, edition=Edition.CORE)
    refused = [
        save(store, INSTITUTIONAL, status=403),
        ask(store, INSTITUTIONAL, status=403),
        ask(store, f"{INSTITUTIONAL}/{memory}", status=403),
        ask(store, f"{INSTITUTIONAL}/{memory}", method="DELETE", status=403),
    ]
    assert {each["code"] for each in refused} == {"enterprise_required"}
    save(store, AGENT)


@pytest.mark.parametrize("agent", [None, "", "*"])
def test_the_agents_route_needs_an_agent(store: Store, agent: str | None) -> None:
    memory = store.keep("Closed on Sundays").memory["id"]
    for answer in (
        save(store, AGENT, agent=agent, status=400),
        ask(store, AGENT, agent_id=agent, status=400),
        ask(store, f"{AGENT}/{memory}", agent_id=agent, status=400),
        ask(store, f"{AGENT}/{memory}", method="DELETE", agent_id=agent, status=400),
    ):
        assert answer["code"] == "agent_required"
    assert contents(ask(store, INSTITUTIONAL)) == ["Closed on Sundays"]


@pytest.mark.parametrize("path", TIERS)
def test_another_agents_and_workspaces_rows_are_not_listed(store: Store, path: str) -> None:
    store.keep("Speaks French", agent="a2")
    with opened_store() as other:
        save(other, path)
    assert ask(store, path)["total"] == 0


LIMITS = [("0", 400), ("-1", 400), ("101", 400), ("abc", 400), ("1", 200), ("100", 200)]


@pytest.mark.parametrize(("limit", "status"), LIMITS)
@pytest.mark.parametrize("path", TIERS)
def test_a_limit_lies_within_its_range(store: Store, path: str, limit: str, status: int) -> None:
    """Behaviour J 134; the wire contract refuses what lies outside rather than clamp it."""
    ask(store, path, limit=limit, status=status)


@pytest.mark.parametrize("path", TIERS)
def test_a_filter_nobody_reads_is_refused(store: Store, path: str) -> None:
    assert ask(store, path, include_shared="true", status=400)["code"] == "unknown_parameter"


@pytest.mark.parametrize("path", TIERS)
def test_pages_follow_one_another(store: Store, path: str) -> None:
    for text in ("One", "Two", "Three"):
        save(store, path, text)
    page = ask(store, path, limit="2")
    assert contents(page) + contents(ask(store, path, limit="2", cursor=page["next"])) == ["Three", "Two", "One"]
    assert contents(ask(store, path, type="preference")) == []


def save(
    store: Store, path: str, content: str = "Closed on Sundays", *, agent: str | None = "a1", status: int = 201,
    **fields: Any,
) -> dict[str, Any]:  # fmt: skip
    body = {"workspace_id": str(store.workspace), "agent_id": agent, "type": "fact", "content": content, **fields}
    return store.send("POST", path, body, status=status)


def ask(store: Store, path: str, *, method: str = "GET", status: int = 200, **query: Any) -> dict[str, Any]:
    given = {"workspace_id": str(store.workspace), "agent_id": "a1"} | query
    return store.send(method, path, None, status=status, query={k: v for k, v in given.items() if v is not None})
