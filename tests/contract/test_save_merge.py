"""Near-duplicates merge and reinforce (spec: dedup.embeddingSimilarity)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from memories.domain.similarity import reaches
from memories.embeddings.base import Vector
from memories.services.forget import forget
from omnia.core.actor import Actor
from tests.naming import named
from tests.support import Meanwhile, Store, Table, contents, opened_store, pair, run, select

pytestmark = pytest.mark.django_db
OLD, NEW = "Ann moved to Lyon", "Ann has moved to Lyon"


@contextmanager
def near(
    cosine: float, *, similarity: Mapping[str, Any] | None = None, seed: int = 0, **policy: Any
) -> Iterator[Store]:
    """A store in which OLD and NEW lie at `cosine`."""
    one, other = pair(cosine, seed=seed)
    spec = {"dedup": {"embeddingSimilarity": dict(similarity or {})}, **policy}
    with opened_store(policy=spec, embedder=Table({OLD: one, NEW: other})) as store:
        yield store


THRESHOLDS = [
    # autoSupersedeAbove, surfaceDuplicatesAbove (None: default), cosine, action, whether it is surfaced
    (None, None, 1.0, "merged", False),
    (None, None, 0.951, "merged", False),
    (None, None, 0.95, "merged", False),
    (None, None, 0.9495, "added", True),
    (None, None, 0.851, "added", True),
    (None, None, 0.85, "added", True),
    (None, None, 0.849, "added", False),
    (None, None, 0.0, "added", False),
    (None, None, -1.0, "added", False),
    ("0.9", None, 0.9, "merged", False),
    ("0.9", None, 0.899, "added", True),
    ("1.0", None, 0.999, "added", True),
    ("1.0", None, 1.0, "merged", False),
    ("0.51", "0.4", 0.511, "merged", False),
    ("0.51", "0.4", 0.509, "added", True),
    (None, "0.2", 0.21, "added", True),
    (None, "0.2", 0.19, "added", False),
    # below the effective surfaceDuplicatesAbove it merges every match it reads
    ("0.7", None, 0.71, "merged", False),
    ("0.7", None, 0.69, "added", False),
]


@pytest.mark.parametrize(("auto", "surface", "cosine", "action", "surfaced"), THRESHOLDS)
def test_the_cosine_decides(auto: str | None, surface: str | None, cosine: float, action: str, surfaced: bool) -> None:
    stated = {"autoSupersedeAbove": auto, "surfaceDuplicatesAbove": surface}
    with near(cosine, similarity={name: value for name, value in stated.items() if value}) as store:
        first = store.save(OLD)["memory"]
        second = store.save(NEW)
        assert second["action"] == action
        assert (second["memory"]["id"] == first["id"]) == (action == "merged")
        near_ones = second.get("potential_duplicates", [])
        assert [(each["id"], each["content"]) for each in near_ones] == [(first["id"], OLD)] * surfaced
        assert all(each["similarity"] == pytest.approx(cosine, abs=1e-4) for each in near_ones)


def test_a_stored_threshold_of_half_or_less_is_ignored() -> None:
    with near(0.94) as store:
        run(
            "UPDATE policies_memorypolicy SET spec = jsonb_set(spec, '{dedup,embeddingSimilarity}', %s::jsonb)",
            '{"autoSupersedeAbove": "0.4"}',
        )
        store.save(OLD)
        assert store.save(NEW)["action"] == "added"


def test_pairs_at_the_threshold_are_all_decided_alike() -> None:
    """2,000 random pairs at cosine 0.95, through the stored halves the store compares."""
    pairs = [pair(0.95, seed=seed) for seed in range(2000)]
    literals = [[_literal(one) for one, _ in pairs], [_literal(other) for _, other in pairs]]
    rows = select(
        "SELECT a::halfvec <=> b::halfvec AS distance FROM unnest(%s::text[], %s::text[]) AS p(a, b)", *literals
    )
    assert {reaches(row["distance"], threshold=0.95) for row in rows} == {True}
    assert len(rows) == 2000


@pytest.mark.parametrize("seed", range(6))
def test_a_save_at_the_threshold_merges_whatever_the_vectors(seed: int) -> None:
    with near(0.95, seed=seed) as store:
        store.save(OLD)
        assert store.save(NEW)["action"] == "merged"


@pytest.fixture
def same() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


APART: list[dict[str, Any]] = [
    {"user": "u2"},
    {"agent": "a1"},
    {"container": "project"},
    {"provenance": "user_requested"},
    {"provenance": "operator_curated"},
    {"type": "general"},
    {"about": {"kind": "user", "key": "city"}},
]


@pytest.mark.parametrize("other", APART, ids=named)
@pytest.mark.parametrize("order", [1, -1])
def test_only_the_same_user_container_agent_scope_class_and_type_merge(
    same: Store, other: dict[str, Any], order: int
) -> None:
    saves: list[dict[str, Any]] = [{}, other][::order]
    same.save(**saves[0])
    second = same.save(**saves[1])
    assert second["action"] == "added"
    assert "potential_duplicates" not in second
    assert len(same.rows()) == 2


def test_sources_of_one_evidence_class_merge(same: Store) -> None:
    same.save(provenance="agent_extracted")
    merged = same.save(provenance="system_generated")
    assert merged["action"] == "merged"
    assert merged["memory"]["source_type"] == "conversation_extraction"


def test_the_same_container_merges(same: Store) -> None:
    same.save(container="project")
    assert same.save(container="project")["action"] == "merged"


@pytest.mark.parametrize("cosine", [1.0, 0.9])
def test_disabled_every_save_inserts_and_names_no_duplicates(cosine: float) -> None:
    with near(cosine, similarity={"enabled": False}) as store:
        store.save(OLD)
        second = store.save(NEW)
        assert second["action"] == "added"
        assert "potential_duplicates" not in second


@pytest.mark.parametrize(("limit", "named"), [(None, 5), (0, 5), (1, 1), (3, 3), (50, 7)])
def test_candidate_limit_caps_what_is_returned(limit: int | None, named: int) -> None:
    axis, _ = pair(0, seed=99)
    texts = {f"Variant {number}": pair_with(axis, 0.86 + number / 100, seed=number) for number in range(7)}
    stated = {} if limit is None else {"candidateLimit": limit}
    policy = {"dedup": {"embeddingSimilarity": stated}}
    with opened_store(policy=policy, embedder=Table({**texts, NEW: axis})) as store:
        for text in texts:
            store.save(text)
        found = store.save(NEW)["potential_duplicates"]
    assert [each["content"] for each in found] == list(texts)[::-1][:named]


@pytest.mark.parametrize("cosine", [1.0, 0.9])
def test_only_ones_own_are_named_as_duplicates(cosine: float) -> None:
    """Security case 67: neither another user's rows nor the shared ones can be probed by what a save answers."""
    with near(cosine) as store:
        store.save(OLD, user="u2")
        store.save(OLD, user="u1", agent="a1")
        store.keep(OLD)
        store.keep(OLD, agent="a1")
        assert store.save(NEW).keys() == {"memory", "action"}


def test_the_closest_is_merged_among_lexical_decoys() -> None:
    twin, words = pair(0.97, seed=5)
    decoys = {f"{NEW} {number}": pair(0, seed=1000 + number)[1] for number in range(40)}
    with opened_store(embedder=Table({**decoys, OLD: twin, NEW: words})) as store:
        for text in decoys:
            store.save(text)
        first = store.save(OLD)["memory"]
        assert store.save(NEW)["memory"]["id"] == first["id"]


GONE = [
    "expires_at = now() - interval '1 second'",
    "retired_at = now(), retired_as = 'forgotten'",
    "retired_at = now(), retired_as = 'superseded'",
    "retired_at = now() - interval '1 second', retired_as = 'invalidated'",
    "retired_at = now() + interval '1 hour', retired_as = 'forgotten'",
]


@pytest.mark.parametrize("gone", GONE)
def test_what_is_gone_is_neither_revived_nor_named(same: Store, gone: str) -> None:
    first = same.save()["memory"]
    run(f"UPDATE memories_memory SET {gone}")
    second = same.save()
    assert second["action"] == "added"
    assert second["memory"]["id"] != first["id"]
    assert "potential_duplicates" not in second


def test_a_text_without_a_vector_is_stored_and_never_merges() -> None:
    table = Table({"Lives in Lyon": None})
    with opened_store(embedder=table) as store:
        store.save()
        assert store.save()["action"] == "added"
        assert [row["embedding"] for row in store.rows()] == [None, None]
        assert store.save("Lives in Lyon now")["action"] == "added"


def test_a_memory_forgotten_while_a_save_is_embedded_is_not_merged_into() -> None:
    one, other = pair(0.97)
    table = Meanwhile({OLD: one, NEW: other})
    with opened_store(embedder=table) as store:
        first = store.save(OLD)["memory"]
        table.then = lambda: forget(first["id"], scope=store.scope(), now=datetime.now(UTC), actor=Actor("user:ann"))
        second = store.save(NEW)
        assert second["action"] == "added"
        assert contents(store.browse()) == [NEW]


def pair_with(axis: Vector, cosine: float, *, seed: int) -> Vector:
    """A vector at `cosine` to `axis`."""
    other = np.random.default_rng(seed).normal(size=len(axis))
    other -= axis * (axis @ other)
    found: Vector = (cosine * axis + np.sqrt(1 - cosine**2) * other / np.linalg.norm(other)).astype(np.float32)
    return found


def _literal(vector: Vector) -> str:
    return str(vector.tolist())
