"""A shared scope too large to read whole is answered through its indexes, and answers the same (design: Recall)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from memories.domain.ranking import LEAST_RECALLED
from memories.embeddings.current import seat
from memories.recall import candidates, statement
from memories.recall.request import RecallRequest
from memories.recall.shared_rows import forget_counts
from memories.services import vectors
from memories.services.weights import weights
from omnia.core.scope import Scope
from omnia.db import fetch_dicts
from tests.support import Store, Table, contents, fill, ids, opened_store, run, select

pytestmark = pytest.mark.django_db
ROWS = 4_000
WORDS = ["bees", "hive", "honey", "queen", "smoke", "wax", "garden", "clover"]


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every scope counts as a large one."""
    monkeypatch.setattr(candidates, "EXACT_ROWS", -1)


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store(embedder=Table()) as opened:
        yield opened


def literals(number: int, *, seed: int, around: Any = None, spread: float = 0.02) -> list[str]:
    """Random vectors, or such that lie around a vector: at a cosine of 0.93, or of 0.45 for a spread of 0.1."""
    points = np.random.default_rng(seed).normal(size=(number, 384))
    if around is not None:
        points = points * spread + np.asarray(around)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return [str(point.astype(np.float16).tolist()) for point in points]


def shared(workspace: UUID, rows: int, *, seed: int = 1, agent: str | None = None, **where: Any) -> None:
    fill(workspace, rows, agent=agent, text="bees in hive {i}", vectors=literals(250, seed=seed, **where),
         model=seat().model_row_id())  # fmt: skip


def asked_vector(query: str) -> Any:
    vector = vectors.for_query(query)
    assert vector is not None
    return vector.vector.to_numpy()


QUERIES = ["bees and honey from the hive", "queen", "the of and", "¿?", "nothing known"]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(("user", "agent"), [("u1", "a1"), ("u1", None), (None, "a1"), (None, None)])
def test_both_statements_answer_alike_where_both_can(
    store: Store, query: str, user: str | None, agent: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, (owner, by) in enumerate([(None, None), (None, "a1"), ("u1", None), ("u1", "a1"), ("u2", "a1")] * 6):
        store.keep(f"{WORDS[number % 8]} {WORDS[number % 5]} {number}", user=owner, agent=by)
    whole = store.recall(query, user=user, agent=agent, explain=True)
    monkeypatch.setattr(candidates, "EXACT_ROWS", -1)
    by_index = store.recall(query, user=user, agent=agent, explain=True)
    assert ids(by_index) == ids(whole)
    assert [m["score"] for m in by_index["memories"]] == pytest.approx([m["score"] for m in whole["memories"]])


def test_the_threshold_counts_the_shared_rows_of_the_scope(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []
    monkeypatch.setattr(candidates, "EXACT_ROWS", 3)
    for name in ("whole_scope", "indexed"):
        real = getattr(statement, name)
        monkeypatch.setattr(statement, name, noting(used, name, real))
    fill(store.workspace, 3, text="bees {i}")
    fill(store.workspace, 50, user="u1", text="bees {i}")
    store.recall("bees", limit=3)
    fill(store.workspace, 1, agent="a1", text="bees {i}")
    forget_counts()
    store.recall("bees", limit=3)
    store.recall("bees", agent="a1", limit=3)
    assert used == ["whole_scope", "whole_scope", "indexed"]


def noting(used: list[str], name: str, real: Callable[[int], str]) -> Callable[[int], str]:
    """`real`, which leaves its name in `used`."""

    def made(dimensions: int) -> str:
        used.append(name)
        return real(dimensions)

    return made


@pytest.mark.usefixtures("indexed")
def test_the_index_is_searched_on_until_the_scope_has_its_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another workspace's rows lie nearer to the question, and a filter leaves one row in ten."""
    monkeypatch.setattr(statement, "whole_scope", None)
    question = asked_vector("¿what?")
    with opened_store(embedder=Table()) as other:
        shared(other.workspace, 1000, seed=2, around=question)
        shared(store.workspace, 1000, around=question, spread=0.1)
        run(
            "UPDATE memories_memory SET purpose = 'rare' WHERE workspace_id = %s AND content LIKE '%%0'",
            store.workspace,
        )
        run("ANALYZE memories_memory")
        for asked in ({"limit": 100}, {"limit": 20, "purposes": ["rare"]}):
            found = store.recall("¿what?", explain=True, **asked)["memories"]
            assert len(found) == asked["limit"]
            assert {memory["scope"]["workspace_id"] for memory in found} == {str(store.workspace)}
            assert all(memory["explain"]["vector_rank"] for memory in found)


@pytest.mark.usefixtures("indexed")
def test_where_the_index_gives_up_the_scope_is_read_whole(store: Store) -> None:
    shared(store.workspace, 200, around=asked_vector("¿what?"), spread=0.1)
    run("UPDATE memories_memory SET purpose = 'rare' WHERE content LIKE '%%7'")
    run("SELECT set_config('hnsw.iterative_scan', 'off', true)")
    assert len(store.recall("¿what?", limit=20, purposes=["rare"])["memories"]) == 20


@pytest.mark.usefixtures("indexed")
def test_what_the_index_finds_is_near_enough_too(store: Store) -> None:
    shared(store.workspace, 200)
    question = asked_vector("¿what?")
    fill(store.workspace, 5, text="bees {i}", vectors=literals(5, seed=3, around=question), model=seat().model_row_id())
    found = store.recall("¿what?", explain=True)["memories"]
    assert len(found) >= 5
    assert all(memory["explain"]["vector_value"] >= LEAST_RECALLED for memory in found)


@pytest.mark.usefixtures("indexed")
def test_gone_rows_and_other_owners_stay_out(store: Store) -> None:
    shared(store.workspace, 300)
    shared(store.workspace, 300, agent="a2")
    fill(store.workspace, 20, user="u2", text="bees in hive {i}")
    run("UPDATE memories_memory SET expires_at = now() WHERE agent_id IS NULL AND content LIKE '%%5'")
    run("UPDATE memories_memory SET retired_at = now(), retired_as = 'forgotten' WHERE content LIKE '%%6'")
    store.save("bees of my own")
    found = store.recall("bees in hive", limit=100)["memories"]
    assert len(found) == 100
    assert {memory["tier"] for memory in found} == {"institutional", "user"}
    assert "bees of my own" in contents({"memories": found})
    assert not any(content.endswith(("5", "6")) for content in contents({"memories": found}))


@pytest.mark.usefixtures("indexed")
def test_a_scope_of_nothing_answers_nothing(store: Store) -> None:
    assert store.recall("bees", user="u3", agent="a3")["memories"] == []


def test_the_plans_use_the_indexes(store: Store) -> None:
    shared(store.workspace, ROWS)
    fill(store.workspace, 200, user="u1", text="bees in hive {i}")
    for number in range(20):
        fill(store.workspace, 100, user=f"other {number}", text="bees in hive {i}")
    run("ANALYZE memories_memory")
    large, small = plan(store, large=True), plan(store, large=False)
    assert "memory_shared_vector_384" in large
    assert "memory_shared_text" in large
    assert "memory_scope" in large
    assert "memory_scope" in small
    assert "Seq Scan on memories_memory" not in large


def plan(store: Store, *, large: bool) -> str:
    """How PostgreSQL would run the recall of user u1."""
    request = RecallRequest(Scope(store.workspace, "u1"), query="hive 77")
    vector = vectors.for_query(request.query)
    assert vector is not None
    seen: list[tuple[str, dict[str, Any]]] = []

    def answer(sql: str, values: dict[str, Any]) -> list[dict[str, Any]]:
        seen.append((sql, values))
        return [{}] * request.limit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "EXACT_ROWS", -1 if large else 10**9)
        patch.setattr(candidates, "fetch_dicts", answer)
        patch.setattr(candidates, "lexemes", lambda query: ("77",))
        candidates.find(request, vector=vector, weights=weights(store.policy()), now=datetime.now(UTC))
    sql, values = seen[-1]
    return "\n".join(row["QUERY PLAN"] for row in fetch_dicts(f"EXPLAIN {sql}", values))


def test_a_save_is_compared_inside_its_scope_index(store: Store) -> None:
    for number in range(30):
        fill(store.workspace, 100, user=f"u{number}", text="bees {i}")
    run("ANALYZE memories_memory")
    rows = select("EXPLAIN SELECT 1 FROM memories_memory m WHERE m.workspace_id = %s AND m.tier = 2"
                  " AND m.user_id = 'u1' AND m.agent_id IS NULL", store.workspace)  # fmt: skip
    assert "memory_scope" in "\n".join(row["QUERY PLAN"] for row in rows)
