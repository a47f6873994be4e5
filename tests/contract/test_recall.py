"""Recall: which rows answer, and which never do (spec: recall; design: Recall)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memories.domain.ranking import DEFAULT_LIMIT, LEAST_RECALLED
from memories.embeddings.current import use
from omnia.core.edition import Edition
from tests.naming import named
from tests.support import Store, Table, contents, fill, ids, opened_store, pair, run

pytestmark = pytest.mark.django_db

OWNERS: list[tuple[str, str | None, str | None]] = [
    # content, user, agent
    ("institutional", None, None), ("agent a1", None, "a1"), ("agent a2", None, "a2"), ("user u1", "u1", None),
    ("user u2", "u2", None), ("u1 for a1", "u1", "a1"), ("u1 for a2", "u1", "a2"), ("u2 for a1", "u2", "a1"),
]  # fmt: skip
VISIBLE: list[tuple[str | None, str | None, set[str]]] = [
    # user, agent, what they see
    (None, None, {"institutional"}),
    ("u1", None, {"institutional", "user u1"}),
    (None, "a1", {"institutional", "agent a1"}),
    ("u1", "a1", {"institutional", "agent a1", "user u1", "u1 for a1"}),
    ("u2", "a2", {"institutional", "agent a2", "user u2"}),
    ("u3", "a3", {"institutional"}),
    ("", "", {"institutional"}),
]
QUESTIONS = [
    # the query, whether an embedder is there: every mode joins the same tiers
    ("institutional agent user u1 u2 a1 a2", True),
    ("institutional agent user u1 u2 a1 a2", False),
    ("¿?", True),
    ("", True),
    ("", False),
]


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


@pytest.mark.parametrize(("query", "embeds"), QUESTIONS)
@pytest.mark.parametrize(("user", "agent", "seen"), VISIBLE)
def test_a_scope_joins_its_tiers(user: str | None, agent: str | None, seen: set[str], query: str, embeds: bool) -> None:
    with opened_store(embeds=embeds) as store:
        for content, owner, owned_by in OWNERS:
            store.keep(content, user=owner, agent=owned_by)
        answer = store.recall(query, user=user, agent=agent)
        assert set(contents(answer)) == seen
        assert answer["total"] == len(ids(answer)) == len(set(ids(answer)))


def test_behaviour_94_what_shares_neither_word_nor_meaning_is_not_recalled() -> None:
    question, near = pair(0.2)
    far = pair(LEAST_RECALLED - 0.01)[1]
    table = Table({"where is the queen": question, "B": near, "C": far, "A queen": far})
    with opened_store(policy={"dedup": {"embeddingSimilarity": {"enabled": False}}}, embedder=table) as store:
        for text in ("A queen", "B", "C"):
            store.save(text)
        assert set(contents(store.recall("where is the queen"))) == {"A queen", "B"}
        assert contents(store.recall("")) == ["C", "B", "A queen"]
        moment = datetime.now(UTC).isoformat()
        assert set(contents(store.recall("where is the queen", as_of=moment))) == {"A queen", "B"}


def test_field_110_thirty_near_duplicates_push_nothing_out() -> None:
    one, other = pair(0.98)
    told = {
        f"The hives {'were' if again % 2 else 'are'} full, said {again}": (one, other)[again % 2] for again in range(30)
    }
    with opened_store(embedder=Table({**told, "hives": one, "Sold the hives": pair(0.4)[1]})) as store:
        for text in ["Sold the hives", *told]:
            store.save(text)
        found = contents(store.recall("hives", limit=5))
        assert len(found) == 2
        assert "Sold the hives" in found


def test_the_core_edition_has_no_institutional_tier_and_no_weights(settings: Any) -> None:
    weights = {"multiplicative": {"institutional": "5.0", "agent": "9.0", "user": "0.1"}}
    settings.OMNIA = replace(settings.OMNIA, edition=Edition.CORE)
    with opened_store(policy={"tierPrecedence": weights, "recall": {"halfLife": {"user": "1h"}}}) as store:
        for content, owner, agent in OWNERS:
            store.keep(content, user=owner, agent=agent, observed_at=datetime.now(UTC) - timedelta(days=30))
        found = store.recall("agent user institutional", agent="a1", explain=True)["memories"]
        assert {memory["content"] for memory in found} == {"agent a1", "user u1", "u1 for a1"}
        assert {memory["explain"]["tier_weight"] for memory in found} == {1.0}
        recency = {memory["tier"]: round(memory["explain"]["recency"], 3) for memory in found}
        assert recency == {"user": 0.75, "user_for_agent": 0.75, "agent": round(0.5 + 0.5 * 2 ** (-1 / 3), 3)}


@pytest.mark.parametrize(
    ("weights", "order"),
    [
        (("2.0", "1.0", "0.5"), ["institutional", "agent", "user", "user"]),
        (("0.1", "3.0", "2.0"), ["agent", "user", "user", "institutional"]),
    ],
)
def test_tier_weights_order_equal_rows(weights: tuple[str, str, str], order: list[str]) -> None:
    stated = dict(zip(("institutional", "agent", "user"), weights, strict=True))
    numbers = [float(weight) for weight in (*weights, weights[-1])]
    spec = {"tierPrecedence": {"multiplicative": stated}, "recall": {"halfLife": {"user": "0h", "agent": "0h"}}}
    with opened_store(policy=spec, embeds=False) as store:
        for user, agent in ((None, None), (None, "a1"), ("u1", None), ("u1", "a1")):
            store.keep("Closed on Sundays", user=user, agent=agent)
        found = store.recall("Sunday", agent="a1", explain=True)["memories"]
        # a user's rows for one agent take the user's weight, so these two may stand either way
        assert [memory["tier"].removesuffix("_for_agent") for memory in found] == order
        shown = {memory["tier"]: memory["explain"]["tier_weight"] for memory in found}
        assert shown == dict(zip(("institutional", "agent", "user", "user_for_agent"), numbers, strict=True))


GONE = [
    "expires_at = now()",
    "expires_at = now() - interval '1 day'",
    "retired_at = now(), retired_as = 'forgotten'",
    "retired_at = now() + interval '1 day', retired_as = 'forgotten'",
    "retired_at = now(), retired_as = 'superseded'",
    "retired_at = now(), retired_as = 'invalidated'",
]


@pytest.mark.parametrize("query", ["bees", "", "¿?"])
@pytest.mark.parametrize("gone", GONE)
def test_what_is_gone_is_never_recalled(store: Store, gone: str, query: str) -> None:
    store.save("Keeps bees")
    run(f"UPDATE memories_memory SET {gone}")
    assert store.recall(query)["memories"] == []


@pytest.mark.parametrize("still", ["expires_at = now() + interval '1 day'",
                                   "retired_at = now() + interval '1 day', retired_as = 'invalidated'"])  # fmt: skip
def test_what_is_going_is_recalled_until_then(store: Store, still: str) -> None:
    store.save("Keeps bees")
    run(f"UPDATE memories_memory SET {still}")
    assert contents(store.recall("bees")) == ["Keeps bees"]


def test_fifty_gone_rows_take_no_place_of_a_live_one(store: Store) -> None:
    for number in range(50):
        store.keep(f"Keeps bees, hive {number}", user="u1")
    run("UPDATE memories_memory SET retired_at = now(), retired_as = 'superseded'")
    store.save("Sold the bees")
    assert contents(store.recall("bees", limit=5)) == ["Sold the bees"]


FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, {"one", "two", "three"}),
    ({"types": ["fact"]}, {"one", "two"}),
    ({"types": ["preference"]}, {"three"}),
    ({"types": ["fact", "preference"]}, {"one", "two", "three"}),
    ({"types": ["nothing"]}, set()),
    ({"purposes": ["support"]}, {"one"}),
    ({"purposes": ["support", "sales"]}, {"one", "three"}),
    ({"min_confidence": 0.8}, {"two", "three"}),
    ({"min_confidence": 0.8000001}, {"three"}),
    ({"min_confidence": 1}, set()),
    ({"min_confidence": 0}, {"one", "two", "three"}),
    ({"types": ["fact"], "min_confidence": 0.8}, {"two"}),
    ({"types": ["fact' OR true --"]}, set()),
]


@pytest.mark.parametrize("query", ["bees", "", "¿?"])
@pytest.mark.parametrize(("asked", "found"), FILTERS)
def test_filters_narrow(store: Store, asked: dict[str, Any], found: set[str], query: str) -> None:
    store.save("bees one", purpose="support", confidence=0.5, metadata={"n": "one"})
    store.save("bees two", confidence=0.8, metadata={"n": "two"}, container="c")
    store.save("bees three", type="preference", purpose="sales", confidence=0.9, metadata={"n": "three"})
    store.save("bees of another", user="u2", purpose="support", confidence=1)
    assert {memory["metadata"]["n"] for memory in store.recall(query, **asked)["memories"]} == found


def test_a_filter_of_one_percent_still_fills_the_answer(store: Store) -> None:
    fill(store.workspace, 1500, user="u1", text="bees in hive {i}")
    run("UPDATE memories_memory SET purpose = 'rare' WHERE workspace_id = %s AND content LIKE %s",
        store.workspace, "%77")  # fmt: skip
    assert len(ids(store.recall("bees", purposes=["rare"], limit=10))) == 10


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"types": []}, "/types"),
    ({"purposes": []}, "/purposes"),
    ({"types": "fact"}, "/types"),
    ({"types": [1]}, "/types/0"),
    ({"types": [" "]}, "/types/0"),
    ({"types": {"in": "abc"}}, "/types"),
    ({"min_confidence": 1.1}, "/min_confidence"),
    ({"min_confidence": "0.5"}, "/min_confidence"),
    ({"limit": 0}, "/limit"),
    ({"limit": -1}, "/limit"),
    ({"limit": 101}, "/limit"),
    ({"limit": 2**63 - 1}, "/limit"),
    ({"limit": "5"}, "/limit"),
    ({"limit": 1.5}, "/limit"),
    ({"limit": True}, "/limit"),
    ({"preview": "yes"}, "/preview"),
    ({"query": 5}, "/query"),
    ({"query": None}, "/query"),
    ({"query": "q" * 16_385}, "/query"),
    ({"order_by": "embedding"}, "/order_by"),
    ({"fields": ["embedding"]}, "/fields"),
    ({"tier": "user"}, "/tier"),
    ({"filter": {"OR": []}}, "/filter"),
]


@pytest.mark.parametrize(("asked", "pointer"), REFUSED, ids=named)
def test_what_a_recall_does_not_take_is_refused(store: Store, asked: dict[str, Any], pointer: str) -> None:
    query = asked.get("query", "bees")
    refused = store.recall(query, status=400, **{name: value for name, value in asked.items() if name != "query"})
    assert refused["errors"][0]["pointer"] == pointer


def test_a_recall_needs_a_workspace(store: Store) -> None:
    refused = store.send("POST", "memories/retrieve", {"query": "bees", "user_id": "u1"}, status=400)
    assert refused["code"] == "workspace_required"


@pytest.mark.parametrize(("asked", "number"), [({}, DEFAULT_LIMIT), ({"limit": 2}, 2), ({"limit": 100}, 60)])
@pytest.mark.parametrize("query", ["bees", "", "¿?"])
def test_limit_caps_the_answer(store: Store, asked: dict[str, Any], number: int, query: str) -> None:
    fill(store.workspace, 60, user="u1", text="bees in hive {i}")
    assert len(ids(store.recall(query, **asked))) == number


PREVIEWS = [
    # inlineThresholdBytes (None: default 8192), preview asked, bytes of the body, whether it is shortened
    (None, True, 8192, False),
    (2048, True, 2048, False),
    (2048, True, 2049, True),
    (2048, False, 2049, False),
    (0, True, 1, True),
    (0, False, 1, False),
]


@pytest.mark.parametrize(("threshold", "asked", "size", "shortened"), PREVIEWS)
def test_a_body_above_the_threshold_is_previewed_when_asked(
    threshold: int | None, asked: bool, size: int, shortened: bool
) -> None:
    policy = None if threshold is None else {"recall": {"inlineThresholdBytes": threshold}}
    with opened_store(policy=policy) as store:
        body = ("bees " * size)[: size - 1] + "x"
        store.save(body, title="Hives", summary="About bees")
        [recalled] = store.recall("hive", preview=asked)["memories"]
        [found] = store.search("hive", preview=str(asked).lower())["memories"]
        for memory in (recalled, found):
            assert (memory["title"], memory["summary"], memory["body_size_bytes"]) == ("Hives", "About bees", size)
            assert memory["content"] == ("" if shortened else body)
            assert memory.get("has_full_body", False) is shortened
            assert ("content_preview" in memory) is shortened
            assert len(memory.get("content_preview", "")) <= 240


def test_a_multi_byte_body_is_measured_in_bytes() -> None:
    with opened_store(policy={"recall": {"inlineThresholdBytes": 10}}) as store:
        store.save("日本語日本")
        [memory] = store.recall("", preview=True)["memories"]
        assert memory["content_preview"] == "日本語日本"


def test_vectors_of_another_model_are_never_compared() -> None:
    one, _ = pair(0)
    with opened_store(embedder=Table({"Keeps bees": one, "hives": one})) as store:
        store.save("Keeps bees")
        assert store.recall("hives", explain=True)["memories"][0]["explain"]["vector_rank"] == 1
        with use(Table({"hives": one}, name="another-model")):
            assert store.recall("hives")["memories"] == []
            assert contents(store.recall("bees")) == ["Keeps bees"]
            assert store.save("Keeps bees")["action"] == "added"


@pytest.mark.parametrize("embedder", [Table(fails=True), None])
def test_without_an_embedder_the_words_answer_alone(embedder: Table | None) -> None:
    with opened_store(embedder=embedder, embeds=embedder is not None) as store:
        store.save("I went to a support group yesterday")
        store.save("Caroline likes tea")
        store.save("Nothing of the kind")
        answer = store.recall("When did Caroline go to the support group?", explain=True)
        assert contents(answer) == ["I went to a support group yesterday", "Caroline likes tea"]
        assert answer["explain"] == {"mode": "text"}
        assert contents(store.recall("", limit=1)) == ["Nothing of the kind"]
        assert contents(store.recall("the of and", limit=1)) == ["Nothing of the kind"]


def test_an_empty_query_answers_newest_first_by_when_it_was_observed(store: Store) -> None:
    for text, day in (("older", 3), ("newest", 30), ("oldest", 1)):
        store.save(text, observed_at=f"2026-03-{day:02}T00:00:00Z")
    found = store.recall("", explain=True)
    assert contents(found) == ["newest", "older", "oldest"]
    assert found["explain"] == {"mode": "newest"}
    assert contents(store.recall("   ")) == contents(found)


def test_the_vector_is_never_served(store: Store) -> None:
    store.save("Keeps bees")
    for answer in (store.recall("bees", explain=True), store.browse(), store.search("bees")):
        assert "embedding" not in answer["memories"][0]
        assert "tsv" not in answer["memories"][0]
