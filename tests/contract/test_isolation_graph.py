"""What a walk over the graph never reaches: the unseen, the filtered, the forgotten (security I 186, 187; A 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memories.models import Edge
from tests.contract.graphs import QUESTION, added, chain, forged, kept, opened_graph, relate, related
from tests.support import Store, contents, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_graph() as opened:
        yield opened


UNSEEN = [
    # what makes the row between seed and end one the caller may not see
    ("expired", "UPDATE memories_memory SET expires_at = now() WHERE id = %s"),
    ("forgotten", "UPDATE memories_memory SET retired_at = now(), retired_as = 'forgotten' WHERE id = %s"),
    ("superseded", "UPDATE memories_memory SET retired_at = now(), retired_as = 'superseded' WHERE id = %s"),
    ("another user's", "UPDATE memories_memory SET user_id = 'u2' WHERE id = %s"),
    ("of an agent not named", "UPDATE memories_memory SET tier = 3, agent_id = 'a2' WHERE id = %s"),
    ("another agent's", "UPDATE memories_memory SET tier = 1, user_id = NULL, agent_id = 'a2' WHERE id = %s"),
]


@pytest.mark.parametrize(("name", "change"), UNSEEN)
def test_the_walk_leads_neither_to_nor_through_an_unseen_row(store: Store, name: str, change: str) -> None:
    memories = chain(store)
    assert set(added(store.recall(QUESTION, graph_expansion={"hops": 2}))) == {"one", "two"}
    run(change, memories["one"])
    assert added(store.recall(QUESTION, graph_expansion={"hops": 2})) == {}
    run(change, memories["seed"])
    assert store.recall(QUESTION, graph_expansion={"hops": 2})["memories"] == []


@pytest.mark.parametrize("user", [None, "u1", "u2"])
def test_field_7_no_edge_leads_the_walk_to_another_user_or_workspace(store: Store, user: str | None) -> None:
    memories = chain(store)
    theirs = kept(store, QUESTION, user="u2")
    with opened_graph() as other:
        elsewhere, shared = kept(other, QUESTION), kept(other, QUESTION, user=None)
    for memory in (theirs, elsewhere, shared):
        forged(store, memories["one"], memory, user=user)
        forged(store, memory, memories["seed"], user=user)
    assert set(added(store.recall(QUESTION, graph_expansion={"hops": 2}))) == {"one", "two"}


@pytest.mark.parametrize("user", [None, "u1", "u2"])
def test_security_186_whatever_an_edge_says_related_shows_nothing_of_another_owner(
    store: Store, user: str | None
) -> None:
    mine, theirs = kept(store, "mine"), kept(store, "theirs", user="u2")
    with opened_graph() as other:
        elsewhere = kept(other, "elsewhere", user=None)
    for memory in (theirs, elsewhere):
        forged(store, mine, memory, user=user)
    answer = store.recall("mine")
    assert (related(answer, "mine"), answer["total"]) == ([], 1)


def test_security_187_a_shared_hub_does_not_lead_from_one_user_to_another(store: Store) -> None:
    hub = kept(store, "hub", user=None)
    for user in ("u1", "u2"):
        relate(store, kept(store, f"Keeps bees, says {user}", user=user), hub, user=user)
        relate(store, hub, kept(store, f"behind the hub of {user}", user=user), user=user)
    for user, agent in (("u1", None), ("u2", "a1")):
        answer = store.recall(QUESTION, user=user, agent=agent, graph_expansion={"hops": 2})
        assert set(contents(answer)) == {f"Keeps bees, says {user}", "hub", f"behind the hub of {user}"}
    assert set(contents(store.recall("hub", user=None, graph_expansion={"hops": 2}))) == {"hub"}


def test_the_walk_joins_the_tiers_of_the_scope(store: Store) -> None:
    seed = kept(store, "Keeps bees")
    owners = {"institution": (None, None), "agent": (None, "a1"), "user": ("u1", None), "for agent": ("u1", "a1")}
    for name, (user, agent) in owners.items():
        relate(store, seed, kept(store, name, user=user, agent=agent), agent="a1")
    assert set(added(store.recall(QUESTION, agent="a1", graph_expansion=True))) == set(owners)
    assert set(added(store.recall(QUESTION, graph_expansion=True))) == {"institution", "user"}
    assert set(added(store.recall(QUESTION, agent="a2", graph_expansion=True))) == {"institution", "user"}


FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, {"near", "far"}),
    ({"types": ["fact"]}, {"near", "far"}),
    ({"types": ["fact", "preference"]}, {"near", "far"}),
    ({"purposes": ["support"]}, {"near"}),
    ({"min_confidence": 0.8}, {"near"}),
    ({"min_confidence": 0.85}, set()),
]


@pytest.mark.parametrize(("asked", "found"), FILTERS)
def test_what_is_added_passes_the_filters_too(store: Store, asked: dict[str, Any], found: set[str]) -> None:
    seed = kept(store, "Keeps bees", purpose="support", confidence=0.9)
    near = kept(store, "near", purpose="support", confidence=0.8)
    far = kept(store, "far", confidence=0.5)
    relate(store, seed, near)
    relate(store, near, far)
    assert set(added(store.recall(QUESTION, graph_expansion={"hops": 2}, **asked))) == found


def test_the_walk_does_not_lead_through_a_row_a_filter_keeps_out(store: Store) -> None:
    seed, near, far = kept(store, "Keeps bees"), kept(store, "near", type="preference"), kept(store, "far")
    relate(store, seed, near)
    relate(store, near, far)
    assert added(store.recall(QUESTION, graph_expansion={"hops": 2}, types=["fact"])) == {}


def test_forgetting_a_row_cuts_the_way_at_once_and_leaves_its_neighbours_theirs(store: Store) -> None:
    memories = chain(store)
    store.forget(memories["one"])
    assert contents(store.recall(QUESTION, graph_expansion={"hops": 2})) == ["Keeps bees"]
    assert set(added(store.recall("two", graph_expansion={"hops": 2}))) == {"three"}
    run("DELETE FROM memories_memory WHERE id = %s", memories["one"])
    assert Edge.objects.count() == 1
    assert set(added(store.recall("two", graph_expansion={"hops": 2}))) == {"three"}


def test_a_trigger_word_of_one_user_brings_nothing_of_theirs_to_another(store: Store) -> None:
    shared = kept(store, "shared", user=None)
    for number in range(5):
        relate(store, kept(store, f"zqxtrigger {number}", user="u1"), shared, user="u1")
    answer = store.recall("zqxtrigger", user="u2", limit=100, graph_expansion={"hops": 2, "max_added": 100})
    assert answer["memories"] == []
