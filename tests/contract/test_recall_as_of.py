"""Recall with `as_of`: what was known then, and nothing that was taken away since (design: as_of)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support import Store, contents, opened_store, run

pytestmark = pytest.mark.django_db

KEY = {"kind": "user", "key": "city"}


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store(policy={"dedup": {"embeddingSimilarity": {"enabled": False}}}) as opened:
        yield opened


def moment() -> str:
    return datetime.now(UTC).isoformat()


def then(store: Store, at: str, query: str = "lives", **fields: Any) -> list[str]:
    return contents(store.recall(query, as_of=at, **fields))


def supersede(store: Store, ids: list[str], content: str) -> None:
    scope = {"workspace_id": str(store.workspace), "user_id": "u1"}
    store.send("POST", "memories/supersede", {"source_ids": ids, "content": content, "scope": scope}, status=200)


def test_an_earlier_wording_answers_for_its_time(store: Store) -> None:
    before = moment()
    store.save("Lives in Lyon", about=KEY, confidence=0.5)
    in_lyon = moment()
    store.save("Lives in Nantes", about=KEY, confidence=0.9)
    in_nantes = moment()
    store.save("Lives in Brest", about=KEY)
    assert then(store, before) == []
    assert then(store, in_lyon) == ["Lives in Lyon"]
    assert then(store, in_nantes) == ["Lives in Nantes"]
    assert then(store, moment()) == ["Lives in Brest"]
    assert contents(store.recall("lives")) == ["Lives in Brest"]
    [memory] = store.recall("Lyon", as_of=in_lyon, explain=True)["memories"]
    assert memory["confidence"] == 0.5
    assert memory["body_size_bytes"] == len("Lives in Lyon")
    assert memory["explain"]["text_rank"] == 1
    assert then(store, in_lyon, "Brest") == []


def test_a_wording_stands_from_when_it_was_said_whatever_else_changed_later(store: Store) -> None:
    memory = store.save("Lives in Lyon", about=KEY)["memory"]["id"]
    in_lyon = moment()
    store.patch(memory, {"metadata": {"source": "a letter"}})
    store.forget(memory)
    store.send(
        "POST",
        f"memories/{memory}/restore",
        None,
        status=200,
        query={"workspace": str(store.workspace), "user_id": "u1"},
    )
    assert then(store, in_lyon) == ["Lives in Lyon"]
    store.patch(memory, {"content": "Lives in Nantes"})
    assert then(store, in_lyon) == ["Lives in Lyon"]
    [earlier] = store.history(memory)["wordings"]
    assert earlier["said_at"] < in_lyon < earlier["replaced_at"]


def test_a_superseded_row_answers_for_its_time(store: Store) -> None:
    ids = [store.save(text)["memory"]["id"] for text in ("Ann lives in Lyon", "Bob lives in Nantes")]
    before = moment()
    supersede(store, ids, "Both live in Brest")
    assert set(then(store, before)) == {"Ann lives in Lyon", "Bob lives in Nantes"}
    assert then(store, moment(), "live") == ["Both live in Brest"]


@pytest.mark.parametrize(
    "end",
    ["retired_at = now(), retired_as = 'forgotten'", "expires_at = now() - interval '1 ms'"],
    ids=["forgotten", "expired"],
)
def test_what_gave_way_goes_where_the_memory_in_its_place_goes(store: Store, end: str) -> None:
    ann, bob, cy = (store.save(f"{name} lives in Lyon")["memory"]["id"] for name in ("Ann", "Bob", "Cy"))
    before = moment()
    for sources in ([ann, bob], [cy, ann]):
        supersede(store, sources, "All live in Brest")
    assert len(then(store, before)) == 3
    run(f"UPDATE memories_memory SET {end} WHERE id = %s", cy)
    assert then(store, before) == []


def test_an_invalidated_row_answers_until_it_was(store: Store) -> None:
    memory = store.save("Lives in Lyon")["memory"]["id"]
    before = moment()
    run(
        "UPDATE memories_memory SET retired_at = now() + interval '1 hour', retired_as = 'invalidated' WHERE id = %s",
        memory,
    )
    assert then(store, before) == ["Lives in Lyon"]
    run("UPDATE memories_memory SET retired_at = created_at WHERE id = %s", memory)
    assert then(store, before) == []


def test_what_was_taken_away_does_not_come_back(store: Store) -> None:
    forgotten = store.save("Ann lives in Lyon")["memory"]["id"]
    expired = store.save("Bob lives in Lyon")["memory"]["id"]
    store.save("Cy lives in Lyon", user="u2")
    before = moment()
    store.forget(forgotten)
    run("UPDATE memories_memory SET expires_at = now() - interval '1 ms' WHERE id = %s", expired)
    assert then(store, before) == []


def test_a_revoked_category_is_gone_from_the_past_too(store: Store) -> None:
    store.save("Takes insulin", about=KEY)
    before = moment()
    store.save("Likes tea", about=KEY)
    event = {"userId": "u1", "category": "memory:health"}
    store.send("POST", "memories/consent-events", event, status=200, query={"workspace": str(store.workspace)})
    assert then(store, before, "insulin") == then(store, before, "tea") == []
    assert then(store, moment(), "tea") == ["Likes tea"]


def test_a_document_does_not_say_today_what_it_said_then(store: Store) -> None:
    def told(text: str) -> None:
        document = {"workspace_id": str(store.workspace), "document_id": "d1", "title": "Guide", "text": text}
        store.send("POST", "institutional/ingest", document, status=202)

    told("# Bees\n\nThe hives stand in the garden.")
    before = moment()
    told("# Bees\n\nThe hives stand in the orchard.")
    assert any("orchard" in text for text in then(store, moment(), "orchard"))
    assert not any("orchard" in text for text in then(store, before, "orchard"))


def test_without_a_question_the_newest_of_that_time(store: Store) -> None:
    store.save("first")
    before = moment()
    store.save("second")
    assert then(store, before, "") == ["first"]


def test_other_scopes_stay_out(store: Store) -> None:
    store.keep("Lives in the institution")
    store.keep("Lives with an agent", user="u1", agent="a1")
    store.keep("Lives elsewhere", user="u2")
    at = moment()
    assert then(store, at) == ["Lives in the institution"]
    assert set(then(store, at, agent="a1")) == {"Lives in the institution", "Lives with an agent"}


def test_filters_are_of_that_time(store: Store) -> None:
    memory = store.save("Lives in Lyon", type="fact")["memory"]["id"]
    before = moment()
    store.patch(memory, {"type": "preference", "content": "Prefers Lyon", "confidence": 0.1})
    assert then(store, before, "Lyon", types=["fact"]) == ["Lives in Lyon"]
    assert then(store, before, "Lyon", types=["preference"]) == []
    assert then(store, before, "Lyon", min_confidence=0.5) == ["Lives in Lyon"]
    assert then(store, moment(), "Lyon", min_confidence=0.5) == []


BAD: list[tuple[dict[str, Any], str]] = [
    ({"as_of": (datetime.now(UTC) + timedelta(days=1)).isoformat()}, "as_of_in_the_future"),
    ({"as_of": "2026-01-31"}, "invalid"),
    ({"as_of": "2026-01-31T00:00:00Z", "graph_expansion": True}, "as_of_alone"),
    ({"as_of": "2026-01-31T00:00:00Z", "seed_entity_ids": ["018f0000-0000-7000-8000-000000000000"]}, "as_of_alone"),
    ({"as_of": "2026-01-31T00:00:00Z", "structured_lookups": [{"kinds": ["user"]}]}, "as_of_alone"),
]


@pytest.mark.parametrize(("fields", "code"), BAD)
def test_a_moment_that_cannot_be_asked_about_is_refused(store: Store, fields: dict[str, Any], code: str) -> None:
    assert store.recall("x", status=400, **fields)["code"] == code
