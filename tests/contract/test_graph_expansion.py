"""Graph expansion, row by row of the policy's table, and what the walk never reaches (spec: recall.graphExpansion)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from omnia.core.edition import Edition
from policies.services.resolve import clear_cache
from tests.contract.graphs import QUESTION, WALK, added, chain, kept, opened_graph, relate
from tests.naming import named
from tests.support import Store, contents, ids, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_graph() as opened:
        yield opened


POLICIES: list[tuple[dict[str, Any] | None, set[str]]] = [
    # recall.graphExpansion, the rows added
    (None, set()),
    ({}, set()),
    ({"hops": 2}, set()),
    ({"enabled": False, "hops": 2}, set()),
    ({"enabled": True}, {"one"}),
    ({"enabled": True, "hops": 1}, {"one"}),
    ({"enabled": True, "hops": 2}, {"one", "two"}),
    ({"enabled": True, "hops": 2, "relationTypes": []}, {"one", "two"}),
    ({"enabled": True, "hops": 2, "relationTypes": ["causes"]}, {"one"}),
    ({"enabled": True, "hops": 2, "relationTypes": ["related_to"]}, set()),
    ({"enabled": True, "hops": 2, "relationTypes": ["causes", "related_to"]}, {"one", "two"}),
    ({"enabled": True, "hops": 2, "relationTypes": ["never declared"]}, set()),
    ({"enabled": True, "hops": 2, "maxAdded": 1}, {"one"}),
    ({"enabled": True, "hops": 2, "weight": "0"}, {"one", "two"}),
]


@pytest.mark.parametrize(("walk", "found"), POLICIES)
def test_the_policy_says_how_far_the_graph_is_walked(walk: dict[str, Any] | None, found: set[str]) -> None:
    with opened_graph(walk=walk) as store:
        chain(store)
        answer = store.recall(QUESTION)
        assert set(added(answer)) == found
        assert answer["total"] == len(ids(answer)) == len(set(ids(answer))) == 1 + len(found)


WISHES: list[tuple[dict[str, Any], set[str]]] = [
    # what the recall says, the rows added where the policy walks one hop along `causes`
    ({}, {"one"}),
    ({"graph_expansion": None}, {"one"}),
    ({"graph_expansion": False}, set()),
    ({"graph_expansion": {"enabled": False, "hops": 2}}, set()),
    ({"graph_expansion": True}, {"one"}),
    ({"graph_expansion": {}}, {"one"}),
    ({"graph_expansion": {"hops": 2}}, {"one"}),
    ({"graph_expansion": {"hops": 2, "relation_types": ["causes", "related_to"]}}, {"one", "two"}),
    ({"graph_expansion": {"hops": 2}, "relation_types": ["causes", "related_to"]}, {"one", "two"}),
    ({"graph_expansion": {"hops": 999}, "relation_types": ["causes", "related_to"]}, {"one", "two"}),
    ({"relation_types": ["related_to"]}, set()),
    ({"relation_types": ["causes"], "graph_expansion": {"relation_types": ["causes"]}}, {"one"}),
    ({"graph_expansion": {"hops": 2, "relation_types": ["causes", "related_to"], "max_added": 1}}, {"one"}),
]


@pytest.mark.parametrize(("asked", "found"), WISHES, ids=named)
def test_a_recall_overrides_the_policy(asked: dict[str, Any], found: set[str]) -> None:
    with opened_graph(walk={"enabled": True, "hops": 1, "relationTypes": ["causes"]}) as store:
        chain(store)
        assert set(added(store.recall(QUESTION, **asked))) == found


@pytest.mark.parametrize("asked", [True, {}, {"enabled": True}, {"hops": 1}])
def test_a_recall_may_ask_for_what_no_policy_enables(store: Store, asked: Any) -> None:
    chain(store)
    assert set(added(store.recall(QUESTION, graph_expansion=asked))) == {"one"}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"graph_expansion": "yes"}, "/graph_expansion"),
    ({"graph_expansion": 1}, "/graph_expansion"),
    ({"graph_expansion": []}, "/graph_expansion"),
    ({"graph_expansion": {"hops": 0}}, "/graph_expansion/hops"),
    ({"graph_expansion": {"hops": -1}}, "/graph_expansion/hops"),
    ({"graph_expansion": {"hops": 1.5}}, "/graph_expansion/hops"),
    ({"graph_expansion": {"hops": True}}, "/graph_expansion/hops"),
    ({"graph_expansion": {"max_added": 0}}, "/graph_expansion/max_added"),
    ({"graph_expansion": {"max_added": 101}}, "/graph_expansion/max_added"),
    ({"graph_expansion": {"weight": 1.01}}, "/graph_expansion/weight"),
    ({"graph_expansion": {"weight": -0.01}}, "/graph_expansion/weight"),
    ({"graph_expansion": {"weight": "0.6"}}, "/graph_expansion/weight"),
    ({"graph_expansion": {"relation_types": []}}, "/graph_expansion/relation_types"),
    ({"graph_expansion": {"relationTypes": ["causes"]}}, "/graph_expansion/relationTypes"),
    ({"relation_types": []}, "/relation_types"),
    ({"relation_types": [""]}, "/relation_types/0"),
    ({"relation_types": "causes"}, "/relation_types"),
    ({"relation_types": ["causes"] * 65}, "/relation_types"),
    ({"relation_types": ["causes"], "graph_expansion": {"relation_types": ["related_to"]}}, "/relation_types"),
]


@pytest.mark.parametrize(("asked", "pointer"), REFUSED, ids=named)
def test_what_is_out_of_range_is_refused(store: Store, asked: dict[str, Any], pointer: str) -> None:
    assert store.recall(QUESTION, status=400, **asked)["errors"][0]["pointer"] == pointer


def test_a_row_has_its_seeds_score_faded_by_every_hop_and_edge(store: Store) -> None:
    chain(store, one=0.8, two=0.5)
    answer = store.recall(QUESTION, graph_expansion={"hops": 2, "weight": 0.6})
    seed = answer["memories"][0]["score"]
    assert added(answer) == pytest.approx({"one": seed * 0.6 * 0.8, "two": seed * 0.6**2 * 0.8 * 0.5})


def test_the_best_of_several_ways_counts(store: Store) -> None:
    memories = chain(store, one=0.1)
    middle = kept(store, "middle")
    relate(store, middle, memories["seed"], weight=0.9)
    relate(store, middle, memories["one"], weight=0.9)
    relate(store, memories["one"], memories["seed"], weight=0.2)
    answer = store.recall(QUESTION, graph_expansion={"hops": 2, "weight": 1.0})
    seed = answer["memories"][0]["score"]
    assert added(answer) == pytest.approx({"middle": seed * 0.9, "one": seed * 0.81, "two": seed * 0.2})
    [one] = [memory for memory in answer["memories"] if memory["content"] == "one"]
    assert one["hops"] == 2


def test_a_way_never_leads_through_another_found_row(store: Store) -> None:
    first, second, last = kept(store, "bees bees and wasps"), kept(store, "bees"), kept(store, "last")
    relate(store, first, second)
    relate(store, second, last)
    answer = store.recall(QUESTION, graph_expansion={"hops": 2, "weight": 0.5}, explain=True)
    [row] = [memory for memory in answer["memories"] if memory["source"] == "graph"]
    assert (row["hops"], row["explain"]["graph"]["seed_id"]) == (1, second)


def test_the_answer_is_ordered_by_score_and_the_walk_comes_on_top_of_the_limit(store: Store) -> None:
    strong, weak = kept(store, "bees hives honey"), kept(store, "bees of another kind", confidence=0.1)
    for number in range(30):
        relate(store, strong, kept(store, f"n{number}"), weight=1 - number / 100)
    relate(store, weak, kept(store, "behind the weak"))
    answer = store.recall("bees hives honey", limit=2, graph_expansion={"max_added": 20, "weight": 0.9})
    scores = [memory["score"] for memory in answer["memories"]]
    assert scores == sorted(scores, reverse=True)
    assert answer["total"] == len(scores) == 22
    assert list(added(answer)) == [f"n{number}" for number in range(20)]
    assert [memory["source"] for memory in answer["memories"]][-1] == "direct"


@pytest.mark.parametrize("most", [1, 3, 5, 100])
def test_no_more_than_max_added_rows_are_added_however_many_there_are(store: Store, most: int) -> None:
    memories = chain(store)
    for number in range(6):
        middle = kept(store, f"middle {number}")
        relate(store, memories["seed"], middle, weight=0.5 + number / 20)
        for leaf in range(4):
            relate(store, kept(store, f"leaf {number} {leaf}"), middle, weight=1 - leaf / 10)
    everything = added(store.recall(QUESTION, graph_expansion={"hops": 2, "max_added": 100}))
    assert len(everything) == 2 + 6 + 24
    best = sorted(everything.values(), reverse=True)[:most]
    found = added(store.recall(QUESTION, graph_expansion={"hops": 2, "max_added": most}))
    assert list(found.values()) == pytest.approx(best)


def test_a_row_of_the_graph_says_where_it_came_from(store: Store) -> None:
    memories = chain(store, one=0.8)
    answer = store.recall(QUESTION, graph_expansion={"hops": 7}, explain=True)
    rows = {memory["content"]: memory for memory in answer["memories"]}
    assert answer["explain"]["graph_expansion"] == {
        "enabled": True, "hops": 2, "relation_types": [], "max_added": 10, "weight": 0.6,
    }  # fmt: skip
    assert "graph" not in rows["Keeps bees"]["explain"]
    assert "hops" not in rows["Keeps bees"]
    assert rows["two"]["hops"] == 2
    explained = rows["two"]["explain"]
    assert explained["graph"] == {
        "seed_id": memories["seed"], "seed_score": rows["Keeps bees"]["score"], "hops": 2,
        "path": [
            {"source_id": memories["seed"], "target_id": memories["one"], "relation_type": "causes", "weight": 0.8},
            {"source_id": memories["two"], "target_id": memories["one"], "relation_type": "related_to", "weight": 1},
        ],
    }  # fmt: skip
    assert {name for name, value in explained.items() if value is not None} == {"graph"}


def test_a_row_of_the_graph_is_previewed_like_any_other() -> None:
    with opened_graph(recall={"inlineThresholdBytes": 10}) as previewing:
        relate(previewing, kept(previewing, "bees"), kept(previewing, "Long " * 100, title="A title"))
        answer = previewing.recall(QUESTION, graph_expansion=True, preview=True)
    row = answer["memories"][1]
    assert (row["source"], row["title"], row["content"], row["has_full_body"]) == ("graph", "A title", "", True)


def test_without_a_seed_nothing_is_walked(store: Store) -> None:
    chain(store)
    assert store.recall("nothing known", graph_expansion=True) == {"memories": [], "total": 0}


def test_a_row_found_and_reached_is_there_once_as_found(store: Store) -> None:
    relate(store, kept(store, "bees and hives"), kept(store, "bees alone"))
    answer = store.recall(QUESTION, graph_expansion={"hops": 2})
    assert sorted(contents(answer)) == ["bees alone", "bees and hives"]
    assert {memory["source"] for memory in answer["memories"]} == {"direct"}


def test_the_filters_of_the_recall_hold_for_what_the_graph_adds(store: Store) -> None:
    """Field fault 94: filters, expiry and forgetting hold behind an edge as anywhere."""
    seed = kept(store, "bees", purpose="support", confidence=0.9)
    relate(store, seed, kept(store, "of another type", type="preference", purpose="support", confidence=0.9))
    relate(store, seed, kept(store, "of another purpose", confidence=0.9))
    relate(store, seed, kept(store, "too unsure", purpose="support", confidence=0.1))
    relate(store, seed, kept(store, "as asked", purpose="support", confidence=0.9))
    expired = kept(store, "expired", purpose="support", confidence=0.9)
    relate(store, seed, expired)
    run("UPDATE memories_memory SET expires_at = now() - interval '1 s' WHERE id = %s", expired)
    narrowed: dict[str, Any] = {"types": ["fact"], "purposes": ["support"], "min_confidence": 0.5}
    assert contents(store.recall(QUESTION, graph_expansion={"hops": 2}, **narrowed)) == ["bees", "as asked"]


def test_the_walk_is_enterprise(settings: Any) -> None:
    with opened_graph(walk=WALK) as store:
        chain(store)
        settings.OMNIA = replace(settings.OMNIA, edition=Edition.CORE)
        clear_cache()
        assert added(store.recall(QUESTION)) == {}
        assert added(store.recall(QUESTION, graph_expansion=False)) == {}
        assert store.recall(QUESTION, graph_expansion=True, status=403)["code"] == "enterprise_required"


def rule(
    edges: Mapping[tuple[int, ...], float], *, seeds: dict[int, float], hops: int, fading: float
) -> dict[int, float]:
    """The best score of every row within reach, worked out path by path."""
    best: dict[int, float] = {}
    front = dict(seeds)
    for _ in range(hops):
        reached: dict[int, float] = {}
        for ends, weight in edges.items():
            for here, there in (ends, ends[::-1]):
                if here in front and there not in seeds:
                    reached[there] = max(reached.get(there, 0.0), front[here] * fading * weight)
        front = reached
        best |= {row: max(score, best.get(row, 0.0)) for row, score in reached.items()}
    return best


@pytest.mark.parametrize("number", range(8))
def test_a_random_graph_is_walked_as_the_rule_says(store: Store, number: int) -> None:
    random = Random(number)  # noqa: S311 - a graph, no secret
    texts = [f"bees {row}" if row < 3 else f"row {row}" for row in range(14)]
    rows = [kept(store, text, confidence=random.uniform(0.1, 1)) for text in texts]
    edges = {tuple(random.sample(range(14), 2)): round(random.random(), 3) for _ in range(30)}
    for (source, target), weight in edges.items():
        relate(store, rows[source], rows[target], weight=weight)
    for hops, most in ((1, 100), (2, 100), (2, 4)):
        answer = store.recall(QUESTION, graph_expansion={"hops": hops, "weight": 0.7, "max_added": most})
        found = [memory for memory in answer["memories"] if memory["source"] == "direct"]
        seeds = {texts.index(memory["content"]): memory["score"] for memory in found}
        assert set(seeds) == {0, 1, 2}
        expected = sorted(rule(edges, seeds=seeds, hops=hops, fading=0.7).values(), reverse=True)[:most]
        assert list(added(answer).values()) == pytest.approx(expected)
