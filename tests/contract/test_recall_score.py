"""The recall formula: `score = rrf × source weight × confidence × recency × tier weight` (design: Recall)."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memories.domain.about import About
from memories.domain.kinds import SOURCE_WEIGHT
from memories.domain.ranking import age_of, leg_depth, recency, rrf
from memories.recall.request import RecallRequest
from memories.services.recall import recall
from omnia.core.scope import Tier
from tests.support import Store, Table, contents, fill, ids, opened_store, pair, run, select

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
WORDS = ["bees", "hive", "honey", "queen", "smoke", "wax", "garden", "clover"]


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


def explained(store: Store, query: str, *, limit: int = 100) -> list[dict[str, Any]]:
    request = RecallRequest(store.scope("u1", "a1"), query=query, limit=limit, explain=True)
    return recall(request, policy=store.policy(), now=NOW).memories


ROUNDS = [
    # half-lives of the user and the agent in hours, the floor, rrf k
    ("720h", "2160h", 0.5, 10),
    ("1h", "0h", 0.0, 1),
    ("87600h", "1h", 1.0, 60),
    (None, None, 0.25, 10),
]


@pytest.mark.parametrize(("user", "agent", "floor", "k"), ROUNDS)
def test_every_factor_is_the_rule_s_and_their_product_is_the_score(
    user: str | None, agent: str | None, floor: float, k: int, settings: Any
) -> None:
    settings.OMNIA = replace(settings.OMNIA, recency_floor=floor, rrf_k=k)
    half_life = {tier: span for tier, span in (("user", user), ("agent", agent)) if span}
    weights = {"institutional": "0.5", "agent": "1.25", "user": "3"}
    with opened_store(
        policy={"recall": {"halfLife": half_life}, "tierPrecedence": {"multiplicative": weights}}
    ) as store:
        _fill_at_random(store, seed=k)
        policy = store.policy()
        found = explained(store, "bees and honey from the hive")
        assert len(found) > 40
        rows = {str(row["id"]): row for row in store.rows("*")}
        for memory in found:
            row, explain = rows[str(memory["id"])], memory["explain"]
            tier = Tier(memory["tier"])
            age = age_of(observed_at=row["observed_at"], created_at=row["created_at"],
                         reinforced_at=row["reinforced_at"], now=NOW)  # fmt: skip
            assert explain["rrf"] == pytest.approx(rrf(explain["vector_rank"], explain["text_rank"], k=k))
            assert explain["source_weight"] == SOURCE_WEIGHT[memory["source_type"]]
            assert explain["confidence"] == memory["confidence"]
            expected = recency(age, half_life=policy.recall.half_life(tier), floor=floor)
            assert explain["recency"] == pytest.approx(expected, rel=1e-6)
            assert explain["tier_weight"] == policy.tier_weight(tier)
            product = math.prod(explain[name] for name in FACTORS)
            assert memory["score"] == pytest.approx(product)
        scores = [memory["score"] for memory in found]
        assert scores == sorted(scores, reverse=True)
        assert len({memory["id"] for memory in found}) == len(found)


FACTORS = ("rrf", "source_weight", "confidence", "recency", "tier_weight")


def _fill_at_random(store: Store, *, seed: int) -> None:
    """Sixty rows of every tier, source, age and confidence."""
    chance = random.Random(seed)  # noqa: S311 - rows to rank, not secrets
    for number in range(60):
        user, agent = chance.choice([(None, None), (None, "a1"), ("u1", None), ("u1", "a1")])
        text = " ".join(chance.choices(WORDS, k=4)) + f" {number}"
        observed = chance.choice([None, NOW - timedelta(hours=chance.randrange(20_000)), NOW + timedelta(days=1)])
        store.keep(text, user=user, agent=agent, now=NOW - timedelta(hours=chance.randrange(20_000)),
                   observed_at=observed, confidence=chance.random())  # fmt: skip
    for row in store.rows("id"):
        reinforced = chance.choice([None, NOW - timedelta(hours=chance.randrange(9_000)), NOW + timedelta(hours=5)])
        run("UPDATE memories_memory SET source_type = %s, reinforced_at = %s WHERE id = %s",
            chance.choice(list(SOURCE_WEIGHT)), reinforced, row["id"])  # fmt: skip


def test_the_legs_are_ranked_by_what_they_measure(store: Store) -> None:
    _fill_at_random(store, seed=3)
    found = explained(store, "bees and honey from the hive")
    for leg in ("vector", "text"):
        ranked = sorted(
            (m["explain"][f"{leg}_rank"], m["explain"][f"{leg}_value"]) for m in found if m["explain"][f"{leg}_rank"]
        )
        assert [rank for rank, _ in ranked] == list(range(1, len(ranked) + 1))
        values = [value for _, value in ranked]
        assert values == sorted(values, reverse=True)


def test_the_vector_value_is_the_cosine() -> None:
    one, other = pair(0.4)
    with opened_store(embedder=Table({"Keeps bees": one, "hives?": other})) as store:
        store.save("Keeps bees")
        [memory] = store.recall("hives?", explain=True)["memories"]
        assert memory["explain"]["vector_value"] == pytest.approx(0.4, abs=1e-3)


def test_the_text_value_is_the_sum_of_the_idf_inside_the_scope() -> None:
    with opened_store(embeds=False) as store:
        for text in ("bees and honey", "bees and wax", "bees alone", "honeydew melon", "clover"):
            store.save(text)
        fill(store.workspace, 40, user="u2", text="honey {i}")
        found = store.recall("Honey bees?", explain=True)["memories"]
        weight = {word: math.log(1 + (5 - rows + 0.5) / (rows + 0.5)) for word, rows in (("bee", 3), ("honey", 1))}
        shown = {memory["content"]: memory["explain"]["text_value"] for memory in found}
        assert shown == {
            "bees and honey": pytest.approx(weight["bee"] + weight["honey"]),
            "bees and wax": pytest.approx(weight["bee"]),
            "bees alone": pytest.approx(weight["bee"]),
        }


def test_a_lexical_hit_and_a_semantic_hit_are_both_answered() -> None:
    near, query = pair(0.8)
    far = pair(0, seed=9)[0]
    table = Table({"He plays the cello": near, "music?": query, "A note on music": far, "Unrelated": -query})
    with opened_store(embedder=table) as store:
        for text in ("He plays the cello", "A note on music", "Unrelated"):
            store.save(text)
        assert set(contents(store.recall("music?", limit=2))) == {"He plays the cello", "A note on music"}


def test_an_old_exact_answer_stays_among_fresh_noise(store: Store) -> None:
    store.save(
        "Ann adopted a tortoise named Ptolemy", observed_at=(datetime.now(UTC) - timedelta(days=240)).isoformat()
    )
    fill(store.workspace, 200, user="u1", text="Ann wrote a note about weather number {i}", first=datetime.now(UTC))
    found = store.recall("What is the name of Ann's tortoise?", limit=10, explain=True)["memories"]
    assert found[0]["content"] == "Ann adopted a tortoise named Ptolemy"
    assert 0.5 <= found[0]["explain"]["recency"] < 0.51


def test_the_identical_text_ranks_first(store: Store) -> None:
    texts = [f"Ann keeps {word} in the {place}" for word in WORDS[:4] for place in WORDS[4:]]
    for text in texts:
        store.save(text)
    for text in texts[::5]:
        assert contents(store.recall(text, limit=1)) == [text]


@pytest.mark.parametrize(
    ("again", "recency"),
    [("Lives in Rome", 1.0), (None, 0.75)],
    ids=["said again under its key", "edited"],
)
def test_what_is_said_again_is_fresh_and_what_is_edited_is_not(store: Store, again: str | None, recency: float) -> None:
    about = About.of("user", "city")
    memory = store.keep("Lives in Lyon", user="u1", about=about, now=NOW - timedelta(days=30)).memory["id"]
    if again:
        store.keep(again, user="u1", about=about, now=NOW)
    else:
        store.patch(memory, {"confidence": 0.9})
    [found] = explained(store, "lives")
    assert found["explain"]["recency"] == pytest.approx(recency)


def test_reading_changes_nothing_on_the_row(store: Store) -> None:
    store.save("Keeps bees", expires_at="2999-01-01T00:00:00Z")
    before = store.rows("*")
    for _ in range(3):
        store.recall("bees")
        store.search("bees")
        store.browse()
    columns = {"id", "expires_at", "updated_at", "confidence", "evidence_count", "content"}
    assert [{name: row[name] for name in columns} for row in store.rows("*")] == [
        {name: row[name] for name in columns} for row in before
    ]


@pytest.mark.parametrize(("limit", "depth"), [(1, 20), (10, 20), (11, 22), (15, 30), (100, 200)])
def test_the_legs_are_twice_the_limit_deep_and_at_least_twenty(limit: int, depth: int) -> None:
    assert leg_depth(limit) == depth
    with opened_store(embeds=False) as store:
        fill(store.workspace, depth + 5, user="u1", text="bees {i}")
        found = explained(store, "bees", limit=limit)
        assert max(memory["explain"]["text_rank"] for memory in found) <= depth
        assert len(found) == min(limit, depth)


def test_reading_an_unknown_scope_writes_nothing(store: Store) -> None:
    tables = ("memories_memory", "memories_entity", "omnia_audit")
    before = [select(f"SELECT count(*) AS n FROM {table}") for table in tables]
    assert ids(store.recall("bees", user="nobody")) == ids(store.browse(user_id="nobody")) == []
    assert [select(f"SELECT count(*) AS n FROM {table}") for table in tables] == before
