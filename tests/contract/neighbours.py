"""One user's memory among near-identical ones of everybody else, and all the ways there are to read it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from tests.support import Store, opened_store

SENTINEL = "zanzibar"
MINE, THEIRS = "Ann keeps bees in the garden", f"Ann keeps bees in the garden at {SENTINEL}"
NEAR = {"dedup": {"embeddingSimilarity": {"surfaceDuplicatesAbove": "0.3"}}}
"""A policy under which a save names what lies anywhere near it."""


def surround(store: Store) -> list[UUID]:
    """Memories with the sentinel: of other users, for other agents, and of another workspace with u1's very ids."""
    others: list[tuple[str | None, str | None]] = [
        ("u2", None), ("u2", "a1"), ("U1", None), ("u1 ", None), ("u%", None), (None, "a2"), ("u1", "a2"),
    ]  # fmt: skip
    made = [store.keep(THEIRS, user=user, agent=agent).memory["id"] for user, agent in others]
    with opened_store(policy=NEAR) as other:
        for user, agent in ((None, None), (None, "a1"), ("u1", None), ("u1", "a1")):
            made.append(other.keep(THEIRS, user=user, agent=agent).memory["id"])
    return made


def surfaces(store: Store) -> dict[str, Any]:
    """What every read surface answers u1 about the sentinel's own words, by surface and question."""
    questions = (THEIRS, SENTINEL, "", "¿?", "bees")
    answers: dict[str, Any] = {
        f"{name} {query}": answer
        for query in questions
        for name, answer in (
            ("recall", store.recall(query, limit=100, explain=True)),
            ("recall for an agent", store.recall(query, limit=100, agent="a1")),
            ("recall as of now", store.recall(query, limit=100, agent="a1", as_of=datetime.now(UTC).isoformat())),
            ("preview", store.recall(query, limit=100, preview=True)),
            ("search", store.search(query or "garden", limit=100)),
            ("search previewed", store.search(query or "garden", include_shared="true", preview="true")),
        )
    }
    for query in (THEIRS, SENTINEL, "bees"):
        asked = {"workspace_id": str(store.workspace), "user_id": "u1", "query": query, "limit": 100}
        for name, fields in (("semantic", {}), ("semantic for an agent", {"agent_id": "a1"})):
            answers[f"{name} {query}"] = store.send("POST", "memories/retrieve/semantic", asked | fields, status=200)
    answers["list"] = store.browse(limit=100)
    answers["list for an agent"] = store.browse(limit=100, agent="a1", include_shared="true")
    return answers
