"""Rows a recall asks for by name: seeds by their id, and structured lookups (design: Recall)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memories.domain.about import About
from omnia.api.principal import Role
from tests.callers import caller
from tests.contract.graphs import NOBODY, added, kept, opened_graph, relate
from tests.naming import named
from tests.support import Store, contents, ids, run, select

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_graph() as opened:
        yield opened


ROWS: list[tuple[str, str | None, str | None, About | None, str | None]] = [
    # content, user, agent, about, purpose
    ("lyon", "u1", None, About.of("city", "Lyon"), "travel"),
    ("lyon for a1", "u1", "a1", About.of("city", "lyon"), None),
    ("london", "u1", None, About.of("city", "London"), None),
    ("lyra", "u1", None, About.of("pet", "Lyra"), "home"),
    ("percent", "u1", None, About.of("code", "100%_off"), None),
    ("unnamed", "u1", None, None, "travel"),
    ("institution", None, None, About.of("city", "Lyon"), "travel"),
    ("agent", None, "a1", About.of("city", "Lyon"), None),
    ("agent 2", None, "a2", About.of("city", "Lyon"), "travel"),
    ("other user", "u2", None, About.of("city", "Lyon"), "travel"),
]
LOOKUPS: list[tuple[dict[str, Any], set[str]]] = [
    # the lookup of a recall of u1 with a1, what it finds
    ({"kinds": ["city"]}, {"lyon", "lyon for a1", "london", "institution", "agent"}),
    ({"kinds": [" CITY "]}, {"lyon", "lyon for a1", "london", "institution", "agent"}),
    ({"kinds": ["city", "pet"], "purpose": "home"}, {"lyra"}),
    ({"kinds": ["pet", "code"]}, {"lyra", "percent"}),
    ({"kinds": ["nothing"]}, set()),
    ({"name_prefix": "ly"}, {"lyon", "lyon for a1", "lyra", "institution", "agent"}),
    ({"name_prefix": "LY"}, {"lyon", "lyon for a1", "lyra", "institution", "agent"}),
    ({"name_prefix": " lyon"}, {"lyon", "lyon for a1", "institution", "agent"}),
    ({"name_prefix": "lyon "}, set()),
    ({"name_prefix": "yon"}, set()),
    ({"name_prefix": "%"}, set()),
    ({"name_prefix": "ly%"}, set()),
    ({"name_prefix": "l_on"}, set()),
    ({"name_prefix": "100%_"}, {"percent"}),
    ({"name_prefix": "ly", "kinds": ["city"], "user_id": "u1"}, {"lyon", "lyon for a1"}),
    ({"purpose": "travel"}, {"lyon", "unnamed", "institution"}),
    ({"purpose": "Travel"}, set()),
    ({"user_id": "u1", "kinds": ["city"]}, {"lyon", "lyon for a1", "london"}),
    ({"agent_id": "a1"}, {"lyon for a1", "agent"}),
    ({"user_id": "u1", "agent_id": "a1"}, {"lyon for a1"}),
    ({"user_id": "", "agent_id": "", "kinds": ["pet"]}, {"lyra"}),
    ({"kinds": ["city' OR true --"]}, set()),
]


@pytest.fixture
def world(store: Store) -> Store:
    for content, user, agent, about, purpose in ROWS:
        store.keep(content, user=user, agent=agent, about=about, purpose=purpose)
    return store


@pytest.mark.parametrize(("lookup", "found"), LOOKUPS, ids=named)
def test_a_lookup_finds_what_meets_every_condition_inside_the_scope(
    world: Store, lookup: dict[str, Any], found: set[str]
) -> None:
    answer = world.recall(agent="a1", structured_lookups=[lookup | {"limit": 100}])
    assert set(contents(answer)) == found
    assert answer["total"] == len(ids(answer)) == len(found)
    assert {memory["source"] for memory in answer["memories"]} <= {"lookup"}


def test_without_a_user_only_shared_rows_are_looked_up(world: Store) -> None:
    assert contents(world.recall(user=None, structured_lookups=[{"kinds": ["city"]}])) == ["institution"]


def test_a_lookup_takes_the_last_changed_up_to_its_limit(store: Store) -> None:
    for number in range(12):
        store.keep(f"n{number}", user="u1", purpose="travel")
    assert set(contents(store.recall(structured_lookups=[{"purpose": "travel", "limit": 2}]))) == {"n11", "n10"}
    assert len(contents(store.recall(structured_lookups=[{"purpose": "travel"}]))) == 10


def test_several_lookups_and_the_question_make_one_answer_each_row_once(world: Store) -> None:
    answer = world.recall(
        "lyon", agent="a1", structured_lookups=[{"kinds": ["pet"]}, {"name_prefix": "ly", "kinds": ["city"]}]
    )
    sources = {memory["content"]: memory["source"] for memory in answer["memories"]}
    assert sources == {
        "lyon": "direct",
        "lyon for a1": "direct",
        "lyra": "lookup",
        "institution": "lookup",
        "agent": "lookup",
    }
    assert answer["total"] == 5
    scores = [memory["score"] for memory in answer["memories"]]
    assert scores == sorted(scores, reverse=True)


def test_what_is_named_comes_on_top_of_the_limit(world: Store) -> None:
    answer = world.recall("lyon", agent="a1", limit=1, structured_lookups=[{"kinds": ["pet"]}])
    assert sorted(memory["source"] for memory in answer["memories"]) == ["direct", "lookup"]


def test_a_named_row_scores_as_the_best_of_one_leg(world: Store) -> None:
    answer = world.recall(structured_lookups=[{"kinds": ["pet"]}], explain=True)
    assert answer["explain"] == {"mode": "lookup"}
    [memory] = answer["memories"]
    explained = memory["explain"]
    assert (explained["text_rank"], explained["vector_rank"]) == (None, None)
    assert explained["rrf"] == pytest.approx(1 / 11)
    factors = [explained[name] for name in ("rrf", "source_weight", "confidence", "recency", "tier_weight")]
    product = 1.0
    for factor in factors:
        product *= factor
    assert memory["score"] == pytest.approx(product)


@pytest.mark.parametrize(("asked", "found"), [({"types": ["preference"]}, set()), ({"purposes": ["home"]}, {"lyra"}),
                                              ({"min_confidence": 0.99}, set())])  # fmt: skip
def test_the_filters_of_the_recall_hold_for_what_is_named(world: Store, asked: dict[str, Any], found: set[str]) -> None:
    seeds = [str(row["id"]) for row in select("SELECT id FROM memories_memory")]
    asks: dict[str, Any] = {"structured_lookups": [{"name_prefix": "ly"}], "seed_entity_ids": seeds}
    assert set(contents(world.recall(**asks, **asked))) == found


@pytest.mark.parametrize("gone", ["expires_at = now()", "retired_at = now(), retired_as = 'forgotten'"])
def test_what_is_gone_is_not_found_by_its_name(world: Store, gone: str) -> None:
    seeds = [str(row["id"]) for row in select("SELECT id FROM memories_memory UNION SELECT id FROM memories_entity")]
    run(f"UPDATE memories_memory SET {gone}")
    answer = world.recall(agent="a1", structured_lookups=[{"kinds": ["city"]}], seed_entity_ids=seeds)
    assert answer == {"memories": [], "total": 0}


OUTSIDE: list[tuple[str | None, str | None, dict[str, Any]]] = [
    # the user and agent of the recall, a lookup beyond it
    ("u1", None, {"user_id": "u2"}),
    ("u1", None, {"user_id": "u2", "kinds": ["city"]}),
    ("u1", None, {"agent_id": "a1"}),
    ("u1", "a1", {"agent_id": "a2", "kinds": ["city"]}),
    (None, None, {"user_id": "u1"}),
    (None, "a1", {"user_id": "u1", "agent_id": "a1"}),
    ("u1", None, {"user_id": "U1"}),
    ("u1", None, {"user_id": "*"}),
]


@pytest.mark.parametrize(("user", "agent", "lookup"), OUTSIDE, ids=named)
def test_a_lookup_never_leaves_the_scope_of_its_recall(
    world: Store, user: str | None, agent: str | None, lookup: dict[str, Any]
) -> None:
    refused = world.recall(user=user, agent=agent, status=403, structured_lookups=[lookup])
    assert refused["code"] == "lookup_outside_scope"


def test_a_token_bound_to_a_user_looks_up_theirs_alone(world: Store) -> None:
    bound = Store(world.workspace, caller(Role.VIEWER, subject="u2"))
    found = bound.recall(user=None, structured_lookups=[{"kinds": ["city"], "user_id": "u2"}])
    assert contents(found) == ["other user"]
    bound.recall(user=None, status=403, structured_lookups=[{"user_id": "u1"}])


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"structured_lookups": [{}]}, "/structured_lookups/0"),
    ({"structured_lookups": [{"limit": 5}]}, "/structured_lookups/0"),
    ({"structured_lookups": [{"user_id": ""}]}, "/structured_lookups/0"),
    ({"structured_lookups": [{"kinds": ["city"]}, {}]}, "/structured_lookups/1"),
    ({"structured_lookups": [{"kinds": []}]}, "/structured_lookups/0/kinds"),
    ({"structured_lookups": [{"kinds": [" "]}]}, "/structured_lookups/0/kinds/0"),
    ({"structured_lookups": [{"kinds": "city"}]}, "/structured_lookups/0/kinds"),
    ({"structured_lookups": [{"name_prefix": ""}]}, "/structured_lookups/0/name_prefix"),
    ({"structured_lookups": [{"name_prefix": "n" * 513}]}, "/structured_lookups/0/name_prefix"),
    ({"structured_lookups": [{"purpose": "travel", "limit": 0}]}, "/structured_lookups/0/limit"),
    ({"structured_lookups": [{"purpose": "travel", "limit": 101}]}, "/structured_lookups/0/limit"),
    ({"structured_lookups": [{"purpose": "travel", "tier": "user"}]}, "/structured_lookups/0/tier"),
    ({"structured_lookups": [{"user_id": 5}]}, "/structured_lookups/0/user_id"),
    ({"structured_lookups": {"kinds": ["city"]}}, "/structured_lookups"),
    ({"structured_lookups": [{"purpose": "travel"}] * 11}, "/structured_lookups"),
    ({"seed_entity_ids": ["nobody"]}, "/seed_entity_ids/0"),
    ({"seed_entity_ids": [5]}, "/seed_entity_ids/0"),
    ({"seed_entity_ids": NOBODY}, "/seed_entity_ids"),
    ({"seed_entity_ids": [NOBODY] * 101}, "/seed_entity_ids"),
]


@pytest.mark.parametrize(("asked", "pointer"), REFUSED, ids=range(len(REFUSED)))
def test_a_bad_name_is_refused(store: Store, asked: dict[str, Any], pointer: str) -> None:
    assert store.recall(status=400, **asked)["errors"][0]["pointer"] == pointer


def test_a_seed_is_a_memory_or_what_it_is_about(world: Store) -> None:
    by_entity = {row["content"]: str(row["entity_id"]) for row in world.rows("content, entity_id")}
    by_memory = {row["content"]: str(row["id"]) for row in world.rows("content, id")}
    for known in (by_entity, by_memory):
        answer = world.recall(seed_entity_ids=[known["lyra"], known["institution"]])
        assert set(contents(answer)) == {"lyra", "institution"}
        assert {memory["source"] for memory in answer["memories"]} == {"lookup"}
        assert (
            contents(world.recall(seed_entity_ids=[known[each] for each in ("other user", "agent", "agent 2")])) == []
        )
    both = [by_entity["lyra"], by_memory["lyra"], by_memory["lyra"], NOBODY]
    assert contents(world.recall(seed_entity_ids=both)) == ["lyra"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, set()),
        ({"graph_expansion": True}, {"B"}),
        ({"graph_expansion": {"hops": 2}}, {"B", "C"}),
        ({"graph_expansion": {"hops": 999}}, {"B", "C"}),
        ({"graph_expansion": {"hops": 2}, "relation_types": ["causes"]}, {"B"}),
        ({"graph_expansion": {"hops": 2}, "relation_types": ["related_to"]}, set()),
    ],
    ids=named,
)
def test_the_graph_is_walked_from_a_seed(store: Store, asked: dict[str, Any], found: set[str]) -> None:
    nodes = {name: kept(store, name) for name in "ABCD"}
    for source, target, relation in (("A", "B", "causes"), ("C", "B", "related_to"), ("C", "D", "causes")):
        relate(store, nodes[source], nodes[target], relation)
    answer = store.recall(seed_entity_ids=[nodes["A"]], **asked)
    assert set(added(answer)) == found
    assert set(contents(answer)) == found | {"A"}
    assert store.recall(seed_entity_ids=[NOBODY], **asked)["memories"] == []


def test_an_empty_list_of_names_is_none(world: Store) -> None:
    answer = world.recall(seed_entity_ids=[], structured_lookups=[], explain=True)
    assert answer["explain"] == {"mode": "newest"}
    assert answer["total"] == 6


def test_seeds_need_a_workspace(store: Store) -> None:
    refused = store.send("POST", "memories/retrieve", {"seed_entity_ids": [NOBODY]}, status=400)
    assert refused["code"] == "workspace_required"
