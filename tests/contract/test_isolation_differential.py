"""300 requests answer alike whether or not 20,000 rows of others lie around (security case: count leaks)."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from memories.embeddings.current import seat
from memories.embeddings.hashing import HashingEmbedder
from tests.support import Store, fill, opened_store, run

pytestmark = pytest.mark.django_db
TEXTS = [f"Ann keeps {what} in the {place}" for what in ("bees", "hens", "tools") for place in ("garden", "shed")]
QUESTIONS = [
    "where are the bees", "hens and tools", "garden", "¿?", "", "the of and", "unknown words", "shed", "Ann",
    *(f"{verb} {what}" for verb in ("Who keeps", "Where are") for what in ("bees", "hens", "tools", "the garden", "the shed")),
    "who", "where",
    *(f"{what} of {whom}" for what in ("bees", "hens") for whom in ("Ann", "the institution", "nobody", "the garden")),
]  # fmt: skip
CROWD = 20_000
VOLATILE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|\d{4}-\d\d-\d\dT[\d:.]+Z")
NEAR = {"dedup": {"embeddingSimilarity": {"surfaceDuplicatesAbove": "0.5"}}}


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request happens at one moment, so that ages, and with them scores, are the same."""

    class Still(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime(2026, 6, 1, 12, tzinfo=UTC)

    monkeypatch.setattr("omnia.api.views.datetime", Still)


@pytest.mark.usefixtures("still")
def test_security_190_foreign_rows_change_no_answer_no_total_and_no_page() -> None:
    """In a shared scope above the size that is read whole, the order among one's own rows is approximate."""
    with opened_store(policy=NEAR) as alone:
        before = [masked(answer) for answer in mixed_requests(alone)]
    with opened_store(policy=NEAR) as among:
        crowd(among)
        after = [masked(answer) for answer in mixed_requests(among)]
    assert len(before) >= 300
    assert after == before


def mixed_requests(store: Store) -> Iterator[dict[str, Any]]:
    """Saves, recalls, lists page by page, searches, opens, edits, histories and forgettings of u1."""
    for user, agent in ((None, None), (None, "a1"), ("u1", "a1")):
        store.keep("Ann keeps bees in the institution", user=user, agent=agent, now=datetime(2026, 5, 1, tzinfo=UTC))
    saved = [store.save(text, confidence=0.5 + number / 20) for number, text in enumerate(TEXTS)]
    yield from saved
    yield store.save(TEXTS[0])
    yield store.save("Ann keeps some bees in the garden", about={"kind": "user", "key": "bees"})
    for query, agent in itertools.product(QUESTIONS, (None, "a1")):
        yield store.recall(query, agent=agent, explain=True)
        yield store.recall(query, agent=agent, limit=2, types=["fact"], preview=True)
        yield store.recall(query, agent=agent, as_of="2026-06-01T12:00:00Z")
        if query.strip():
            yield semantic(store, query, agent=agent)
    yield from pages(store, limit=1)
    yield from pages(store, limit=2)
    yield from pages(store, limit=3, include_shared="true", agent="a1")
    for query in filter(None, QUESTIONS):
        yield store.search(query, limit=2, offset=1, include_shared="true")
        yield store.search(query, agent="*")
    memory = saved[1]["memory"]["id"]
    yield store.patch(memory, {"content": "Ann sold the bees", "confidence": 0.9})
    yield store.open(memory)
    yield store.history(memory)
    yield store.forget(saved[2]["memory"]["id"])
    yield store.browse()
    yield store.recall("bees")


def pages(store: Store, **query: Any) -> Iterator[dict[str, Any]]:
    cursor = None
    while cursor is not False:
        page = store.browse(cursor=cursor, **query)
        yield page
        cursor = page["next"] or False


def semantic(store: Store, query: str, *, agent: str | None) -> dict[str, Any]:
    body = {"workspace_id": str(store.workspace), "user_id": "u1", "query": query, "deny_cel": "kind == 'preference'"}
    asked = body | ({"agent_id": agent} if agent else {})
    return store.send("POST", "memories/retrieve/semantic", asked, status=200)


def crowd(store: Store) -> None:
    """20,000 rows with nearly the same texts and the same vectors: of other users, agents and workspaces."""
    vectors = [str(vector.tolist()) for text in TEXTS if (vector := HashingEmbedder().embed_query(text)) is not None]
    owners: list[tuple[str | None, str | None]] = [("u2", None), ("u2", "a1"), ("u1", "a2"), (None, "a2"), ("U1", "a1")]
    with opened_store() as other:
        places = [(store.workspace, owner) for owner in owners if owner != ("u1", "a2")]
        places += [
            (other.workspace, owner) for owner in [*owners, ("u1", None), ("u1", "a1"), (None, "a1"), (None, None)]
        ]
        for workspace, (user, agent) in places:
            fill(workspace, -(-CROWD // len(places)), user=user, agent=agent, text="Ann keeps bees in the garden {i}",
                 vectors=vectors, model=seat().model_row_id())  # fmt: skip
    run("ANALYZE memories_memory")


def masked(answer: dict[str, Any]) -> str:
    """The answer's bytes; ids and cursors become whether they are there, times of the server's clock a word."""
    text = json.dumps(answer | ({"next": bool(answer["next"])} if "next" in answer else {}))
    return VOLATILE.sub("·", text)
