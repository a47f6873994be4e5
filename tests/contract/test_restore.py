"""Restore: a forgotten memory taken back as long as the trash keeps it (reference: Forget)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from omnia.api.principal import Role
from tests.callers import caller
from tests.contract.graphs import SCHEMA, relate
from tests.support import Store, contents, opened_store, run, select

pytestmark = pytest.mark.django_db
DEDUP = {"dedup": {"embeddingSimilarity": {"surfaceDuplicatesAbove": "0.3"}}}
CITY = {"kind": "user", "key": "city"}


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store(policy={"schema": SCHEMA} | DEDUP) as opened:
        yield opened


def forgotten(store: Store, content: str = "Keeps bees in Lyon", **fields: Any) -> str:
    memory: str = store.save(content, **fields)["memory"]["id"]
    store.forget(memory, **{name: fields[name] for name in ("agent",) if name in fields})
    return memory


def restore(store: Store, memory: str, *, status: int = 200, headers: Any = None, **scope: Any) -> dict[str, Any]:
    query = {"workspace": str(store.workspace), "user_id": "u1"} | scope
    given = {name: value for name, value in query.items() if value is not None}
    return store.send("POST", f"memories/{memory}/restore", None, status=status, query=given, headers=headers)


def test_what_was_forgotten_is_back_on_every_surface(store: Store) -> None:
    before = store.save("Keeps bees in Lyon")["memory"]
    store.forget(before["id"])
    answer = restore(store, before["id"])
    assert answer["action"] == "restored"
    assert answer["memory"] | {"updated_at": before["updated_at"]} == before
    for found in (store.recall("bees"), store.browse(), store.search("bees")):
        assert contents(found) == ["Keeps bees in Lyon"]
    store.open(before["id"])


def test_its_history_relations_and_key_are_back_with_it(store: Store) -> None:
    first = store.save("Lives in Lyon", about=CITY)["memory"]["id"]
    store.save("Lives in Rome", about=CITY)
    other = store.save("Sails a boat")["memory"]["id"]
    relate(store, first, other)
    store.forget(first)
    assert store.get("relations", memory_id=other)["relations"] == []
    assert restore(store, first)["memory"]["about"] == CITY
    assert [each["content"] for each in store.history(first)["wordings"]] == ["Lives in Lyon"]
    assert len(store.get("relations", memory_id=other)["relations"]) == 1
    assert store.save("Lives in Oslo", about=CITY)["memory"]["id"] == first


def test_it_is_in_the_audit(store: Store) -> None:
    memory = forgotten(store)
    restore(store, memory)
    events = select("SELECT event, memory_id FROM omnia_audit WHERE workspace_id = %s ORDER BY id", store.workspace)
    assert [row["event"] for row in events] == ["memory_created", "memory_deleted", "memory_restored"]
    assert str(events[-1]["memory_id"]) == memory


def test_only_what_lies_in_the_trash_can_be_taken_back(store: Store) -> None:
    live = store.save("Sails a boat")["memory"]["id"]
    assert restore(store, live, status=404)["code"] == "memory_not_found"
    memory = forgotten(store)
    restore(store, memory)
    restore(store, memory, status=404)
    store.send("DELETE", "memories", None, status=200, query={"workspace": str(store.workspace), "user_id": "u1"})
    restore(store, memory, status=404)


GONE = {
    "the trash period is over": "retired_at = now() - interval '30 days'",
    "it expired in the trash": "expires_at = now()",
    "it was superseded": "retired_as = 'superseded'",
    "it was invalidated": "retired_as = 'invalidated'",
}


@pytest.mark.parametrize("change", GONE.values(), ids=GONE)
def test_what_is_not_in_the_trash_any_more_is_404_worker_or_not(store: Store, change: str) -> None:
    memory = forgotten(store)
    run(f"UPDATE memories_memory SET {change}")
    assert restore(store, memory, status=404)["code"] == "memory_not_found"
    assert store.browse()["total"] == 0


def test_an_expiry_is_kept(store: Store) -> None:
    expires_at = "2099-01-01T00:00:00Z"
    memory = forgotten(store, expires_at=expires_at)
    assert restore(store, memory)["memory"]["expires_at"] == expires_at


OTHERS: list[dict[str, Any]] = [{"user_id": "u2"}, {"user_id": "u1", "agent": None}, {"user_id": None, "agent": "a1"},
                                {"user_id": None, "agent": None}, {"user_id": "u1", "agent": "a2"}]  # fmt: skip


@pytest.mark.parametrize("scope", OTHERS, ids=range(len(OTHERS)))
def test_only_the_same_exact_scope_takes_it_back(store: Store, scope: dict[str, Any]) -> None:
    memory = forgotten(store, agent="a1")
    restore(store, memory, status=404, **scope)
    with opened_store() as other:
        restore(other, memory, status=404, agent="a1")
    restore(store, memory, agent="a1")


def test_every_agent_is_no_exact_scope(store: Store) -> None:
    assert restore(store, forgotten(store), agent="*", status=400)["code"] == "invalid_scope"


@pytest.mark.parametrize(
    ("client", "status"),
    [(lambda: caller(Role.VIEWER), 403), (lambda: caller(Role.EDITOR), 200), (lambda: caller(subject="u2"), 403),
     (lambda: caller(Role.EDITOR, subject="u1"), 200)],
    ids=["viewer", "editor", "bound to another", "bound"],
)  # fmt: skip
def test_who_may_forget_may_take_back(store: Store, client: Any, status: int) -> None:
    restore(Store(store.workspace, client()), forgotten(store), status=status)


def test_shared_memories_are_taken_back_by_owners(store: Store) -> None:
    memory = str(store.keep("Closed on Mondays").memory["id"])
    store.forget(memory, user_id=None)
    editor: Client = caller(Role.EDITOR)
    assert restore(Store(store.workspace, editor), memory, user_id=None, status=403)["code"] == "role_too_small"
    restore(store, memory, user_id=None)


# What took its place meanwhile


def test_a_key_told_again_meanwhile_stands_and_the_refusal_says_the_fix(store: Store) -> None:
    old = forgotten(store, "Lives in Lyon", about=CITY)
    new = store.save("Lives in Rome", about=CITY)["memory"]["id"]
    refused = restore(store, old, status=409)
    assert refused["code"] == "about_key_taken"
    assert new in refused["detail"]
    assert not any(text in refused["detail"] for text in ("Lyon", "Rome", "city"))
    assert contents(store.browse()) == ["Lives in Rome"]
    store.forget(new)
    restore(store, old)
    assert contents(store.browse()) == ["Lives in Lyon"]


def test_a_key_whose_newer_memory_expired_is_free(store: Store) -> None:
    old = forgotten(store, "Lives in Lyon", about=CITY)
    new = store.save("Lives in Rome", about=CITY)["memory"]["id"]
    run("UPDATE memories_memory SET expires_at = now() WHERE id = %s", new)
    restore(store, old)
    assert contents(store.browse()) == ["Lives in Lyon"]


def test_what_was_said_again_meanwhile_is_not_there_twice(store: Store) -> None:
    old = forgotten(store, "Keeps bees in Lyon")
    new = store.save("Keeps bees in Lyon")["memory"]["id"]
    refused = restore(store, old, status=409)
    assert refused["code"] == "already_remembered"
    assert new in refused["detail"]
    assert "bees" not in refused["detail"]
    assert store.browse()["total"] == 1


def test_what_is_only_like_it_is_named(store: Store) -> None:
    old = forgotten(store, "Ann keeps many brown bees in Lyon")
    near = store.save("Ann keeps many brown bees in Rome")["memory"]["id"]
    assert [each["id"] for each in restore(store, old)["potential_duplicates"]] == [near]


def test_where_nothing_is_merged_nothing_stands_in_its_place() -> None:
    with opened_store(policy={"dedup": {"embeddingSimilarity": {"enabled": False}}}) as store:
        old = forgotten(store)
        store.save("Keeps bees in Lyon")
        restore(store, old)
        assert store.browse()["total"] == 2


def test_without_a_vector_it_comes_back_too() -> None:
    with opened_store(embeds=False) as store:
        memory = forgotten(store)
        assert restore(store, memory)["memory"]["embedding_status"] == "none"


def test_the_same_request_again_is_answered_again(store: Store) -> None:
    memory = forgotten(store)
    first, again = (restore(store, memory, headers={"Idempotency-Key": "undo"}) for _ in range(2))
    assert first == again


def test_what_a_person_no_longer_agrees_to_stays_in_the_trash() -> None:
    with opened_store(policy={"consentRevocation": {"action": "Stop"}}) as store:
        memory = forgotten(store, category="memory:health")
        body = {"userId": "u1", "category": "memory:health"}
        query = {"workspace": str(store.workspace)}
        store.send("POST", "memories/consent-events", body, status=200, query=query)
        assert restore(store, memory, status=403)["code"] == "consent_denied"
        assert store.browse()["total"] == 0
