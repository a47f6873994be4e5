"""A merge reinforces the memory: newer wording, more certainty, later expiry, one more piece of evidence (spec: dedup)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support import Store, Table, contents, lasts, opened_store, pair, run

pytestmark = pytest.mark.django_db
OLD, NEW = "Ann moved to Lyon", "Ann has moved to Lyon"


@pytest.fixture
def same() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


def test_the_newer_wording_replaces_body_vector_and_text_index() -> None:
    one, other = pair(0.97)
    with opened_store(embedder=Table({OLD: one, NEW: other})) as store:
        first = store.save(OLD, summary="Where", metadata={"a": "1", "b": "1"}, session_id="s1")["memory"]
        [before] = store.rows("embedding::text AS vector")
        merged = store.save(NEW, metadata={"b": "2", "c": "2"})
        memory = merged["memory"]
        assert merged["supersedes"] == [first["id"]]
        assert merged["supersede_reason"] == "high_similarity"
        assert memory["content"] == NEW
        assert memory["created_at"] == first["created_at"]
        assert memory["updated_at"] > first["updated_at"]
        assert memory["metadata"] == {"a": "1", "b": "2", "c": "2"}
        [after] = store.rows("embedding::text AS vector, tsv::text AS words")
        assert after["vector"] != before["vector"]
        assert "'has'" not in after["words"]
        assert "'move'" in after["words"]
        [old] = store.history(memory["id"])["wordings"]
        assert (old["content"], old["summary"], old["reason"]) == (OLD, "Where", "high_similarity")
        for answer in (store.recall("Lyon"), store.browse(), store.search("Lyon")):
            assert contents(answer) == [NEW]


def test_merging_with_empty_metadata_keeps_the_old(same: Store) -> None:
    same.save("Likes tea", metadata={"a": "1"}, purpose="p", session_id="s", category="memory:context")
    memory = same.save("Likes tea", metadata={})["memory"]
    assert memory["metadata"] == {"a": "1"}
    assert (memory["purpose"], memory["session_id"], memory["consent_category"]) == ("p", "s", "memory:context")


CATEGORIES = [
    # the first save's category, the second's, the memory's
    (None, "memory:context", "memory:context"),
    ("memory:context", "memory:history", "memory:history"),
    ("memory:context", "memory:health", "memory:health"),
    ("memory:health", "memory:preferences", "memory:health"),
    ("memory:health", None, "memory:health"),
    ("memory:location", "memory:identity", "memory:identity"),
]


@pytest.mark.parametrize(("first", "second", "kept"), CATEGORIES)
def test_a_merge_never_makes_a_memory_less_sensitive(
    same: Store, first: str | None, second: str | None, kept: str
) -> None:
    same.save("Likes tea", category=first)
    assert same.save("Likes tea", category=second)["memory"]["consent_category"] == kept


def test_a_merge_keeps_to_the_expiry_of_the_category_it_keeps() -> None:
    tiers = {"user": {"ttl": {"default": "180d"}, "perCategory": {"memory:health": {"ttl": {"default": "30d"}}}}}
    with opened_store(policy={"tiers": tiers}) as store:
        store.save("Is allergic to bees", category="memory:health")
        merged = store.save("Is allergic to bees")
        assert merged["action"] == "merged"
        assert lasts(merged["memory"]) == timedelta(days=30)


CONFIDENCE = [
    # before, stated with the merge, after
    (None, None, 0.91),
    (0.0, None, 0.7),
    (0.5, None, 0.85),
    (0.98, None, 0.99),
    (0.995, None, 0.995),
    (1, None, 1.0),
    (0.9, 0.2, 0.2),
    (0.2, 1, 1.0),
    (0.9, 0, 0.0),
]


@pytest.mark.parametrize(("before", "stated", "after"), CONFIDENCE)
def test_a_stated_confidence_replaces_else_it_combines(
    same: Store, before: float | None, stated: float | None, after: float
) -> None:
    same.save(confidence=before)
    merged = same.save(confidence=stated)
    assert merged["action"] == "merged"
    assert merged["memory"]["confidence"] == pytest.approx(after, abs=1e-6)


def test_a_hundred_repetitions_stay_one_row_below_certainty(same: Store) -> None:
    found = [same.save()["memory"]["confidence"] for _ in range(20)]
    assert found == sorted(found)
    assert found[-1] == 0.99
    [row] = same.rows()
    assert row["evidence_count"] == 2


def test_one_fact_told_in_ten_sessions_is_one_memory(same: Store) -> None:
    """Field faults C 75: no siblings with one piece of evidence each."""
    told = [same.save(session_id=f"s{number}")["memory"]["id"] for number in range(10)]
    assert len(set(told)) == 1
    [row] = same.rows("session_id")
    assert row["session_id"] == "s9"


EXPIRIES = [
    # maxAge, days the first states (None: never), days the second states, days left
    ("", 10, 20, 20),
    ("", 20, 10, 20),
    ("", None, 10, None),
    ("", 10, None, None),
    ("30d", 10, 20, 20),
    ("30d", 10, 90, 30),
    ("30d", None, 10, 30),
    ("30d", 10, None, 30),
]


@pytest.mark.parametrize(("longest", "first", "second", "left"), EXPIRIES)
def test_the_expiry_moves_to_the_later_of_the_two_capped_at_max_age(
    longest: str, first: int | None, second: int | None, left: int | None
) -> None:
    with opened_store(policy={"tiers": {"user": {"ttl": {"maxAge": longest}}}}) as store:
        store.save(expires_at=in_days(first))
        memory = store.save(expires_at=in_days(second))["memory"]
        assert days_left(memory) == left


EVIDENCE = [
    # minutes since each earlier merge counted, evidence after the next
    ([], 2),
    ([59], 2),
    ([61], 3),
    ([61, 61], 4),
    ([61, 59], 3),
]


@pytest.mark.parametrize(("minutes", "count"), EVIDENCE)
def test_evidence_counts_once_an_hour(same: Store, minutes: list[int], count: int) -> None:
    same.save()
    same.save()
    for passed in minutes:
        run("UPDATE memories_memory SET evidence_counted_at = evidence_counted_at - make_interval(mins => %s)", passed)
        same.save()
    [row] = same.rows()
    assert row["evidence_count"] == count


def test_evidence_goes_by_the_database_clock(same: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    same.save()
    same.save()

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(hours=3)

    monkeypatch.setattr("omnia.api.views.datetime", Ahead)
    assert same.save()["memory"]["evidence_count"] == 2


def in_days(days: int | None) -> str | None:
    return None if days is None else (datetime.now(UTC) + timedelta(days=days)).isoformat()


def days_left(memory: dict[str, Any]) -> int | None:
    if "expires_at" not in memory:
        return None
    span = datetime.fromisoformat(memory["expires_at"]) - datetime.now(UTC)
    return round(span / timedelta(days=1))
