"""Faults seen in other stores around forgetting, expiry and lists: each a case of its own (sections B and I)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.contract.graphs import listed, opened_graph, relate
from tests.support import Store, contents, fill, ids, opened_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


def everything(store: Store, *, status: int = 200, **scope: Any) -> dict[str, Any]:
    query = {"workspace": str(store.workspace), "user_id": "u1"} | scope
    return store.send("DELETE", "memories", None, status=status, query=query)


def test_field_33_a_forgotten_memorys_relations_are_gone_with_it() -> None:
    with opened_graph(walk={"enabled": True, "hops": 2}) as graph:
        first, gone, last = (graph.save(f"{word} there")["memory"]["id"] for word in ("Bees", "Boats", "Birds"))
        relate(graph, first, gone)
        relate(graph, gone, last)
        relate(graph, first, last)
        graph.forget(gone)
        assert [edge["target_id"] for edge in listed(graph, first)["relations"]] == [last]
        assert [edge["source_id"] for edge in listed(graph, last)["relations"]] == [first]
        found = graph.recall("bees", graph_expansion=True)
        assert gone not in ids(found)
        assert {edge["target_id"] for memory in found["memories"] for edge in memory["related"]} == {last}


def test_field_39_no_cache_serves_what_is_gone(store: Store) -> None:
    for number in range(3):
        store.save(f"Keeps {number} bees", user="u1")

    def read() -> list[int]:
        return [store.recall("bees")["total"], store.browse()["total"], store.search("bees")["total"]]

    assert all(read())
    everything(store)
    assert read() == [0, 0, 0]


@pytest.mark.parametrize("rows", [10, 5_000])
def test_field_45_forgetting_everything_is_a_few_statements_however_many_rows(store: Store, rows: int) -> None:
    fill(store.workspace, rows, user="u1")
    with CaptureQueriesContext(connection) as asked:
        assert everything(store) == {"deleted": rows}
    assert sum("DELETE" in query["sql"] for query in asked.captured_queries) <= 7


TTLS: list[dict[str, Any]] = [{}, {"ttl": {"default": "1d"}}, {"ttl": {"maxAge": "2d"}},
                              {"ttl": {"default": "1d", "maxAge": "2d"}}]  # fmt: skip


@pytest.mark.parametrize(("user", "agent"), list(product(TTLS, TTLS)), ids=range(len(TTLS) ** 2))
def test_field_54_a_recall_works_under_every_expiry_empty_and_full(user: Any, agent: Any) -> None:
    with opened_store(policy={"tiers": {"user": user, "agent": agent}}) as store:
        assert store.recall("bees")["total"] == 0
        store.save("Keeps bees")
        assert contents(store.recall("bees")) == ["Keeps bees"]


def test_behaviour_117_a_users_memory_is_opened_and_forgotten_under_the_users_name_only(store: Store) -> None:
    memory = store.save()["memory"]["id"]
    for user in (None, ""):
        store.open(memory, user_id=user, status=404)
        store.forget(memory, user_id=user, status=404)
    store.open(memory)


def test_behaviour_118_only_the_owner_forgets(store: Store) -> None:
    memory = store.save()["memory"]["id"]
    store.forget(memory, user_id="u2", status=404)
    assert ids(store.browse()) == [memory]
    store.forget(memory)
    assert ids(store.browse()) == []
    store.forget("018f0000-0000-7000-8000-000000000000", status=404)


def test_behaviour_119_shared_memories_are_listed_when_asked_for_each_with_its_own_tier(store: Store) -> None:
    for user, agent in ((None, None), (None, "a1"), ("u1", "a1")):
        store.keep("Keeps bees", user=user, agent=agent)
    shared = store.browse(agent="a1", include_shared="true")["memories"]
    assert {(each["tier"], each["scope"].get("virtual_user_id"), each["scope"].get("agent_id")) for each in shared} == {
        ("institutional", None, None), ("agent", None, "a1"), ("user_for_agent", "u1", "a1"),
    }  # fmt: skip
    assert [each["tier"] for each in store.browse(agent="a1")["memories"]] == ["user_for_agent"]
