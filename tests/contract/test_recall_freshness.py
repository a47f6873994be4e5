"""Of two contradicting facts about one thing the newer ranks first (spec: recall.halfLife, its default).

Merging is off, so that both facts stand and the ranking alone decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from memories.embeddings.base import Embedder
from memories.embeddings.build import build
from omnia.config import EmbeddingConfig
from tests.support import Store, contents, opened_store

pytestmark = pytest.mark.django_db

PAIRS, LEAST = 50, 0.95
FACTS = [
    # what is told of somebody, what it may be, and how it is asked
    ("{who} works at {what}", ("a bakery", "the city library", "a shipping company", "the opera"), "Where does {who} work?"),
    ("{who}'s favourite colour is {what}", ("green", "dark blue", "orange", "white"), "What is {who}'s favourite colour?"),
    ("{who} drives {what}", ("an old van", "a red sports car", "an electric bike", "nothing any more"), "What does {who} drive?"),
    ("{who} prefers {what} for breakfast", ("porridge", "toast", "only coffee", "eggs"), "What does {who} have for breakfast?"),
    ("{who} is learning {what}", ("Portuguese", "the cello", "to weld", "chess"), "What is {who} learning?"),
]  # fmt: skip
PEOPLE = ["Ann", "Bob", "Chloe", "Dmitri", "Esther", "Farid", "Gwen", "Hiro", "Inés", "Jonas"]


@pytest.fixture(scope="module")
def model() -> Embedder:
    embedder = build(EmbeddingConfig(provider="local"))
    assert embedder is not None
    return embedder


def pairs() -> Iterator[tuple[str, str, str]]:
    """The earlier fact, the later one, and the question; the same in every run."""
    random = Random(7)  # noqa: S311 - the same pairs in every run
    for fact, choices, question in FACTS:
        for who in PEOPLE:
            earlier, later = random.sample(choices, 2)
            yield fact.format(who=who, what=earlier), fact.format(who=who, what=later), question.format(who=who)


@pytest.mark.parametrize("embeds", [True, False], ids=["hybrid", "text alone"])
@pytest.mark.parametrize("written", ["in order", "backwards"])
def test_the_newer_of_two_contradicting_facts_ranks_first(model: Embedder, embeds: bool, written: str) -> None:
    policy = {"dedup": {"embeddingSimilarity": {"enabled": False}}}
    now = datetime.now(UTC)
    with opened_store(policy=policy, embedder=model, embeds=embeds) as store:
        asked = list(pairs())
        for number, (earlier, later, _) in enumerate(asked):
            said = [(earlier, now - timedelta(days=60 + number)), (later, now - timedelta(days=number % 20))]
            for text, at in said if written == "in order" else said[::-1]:
                store.keep(text, user="u1", observed_at=at)
        ahead = [newer_is_ahead(store, question, earlier, later) for earlier, later, question in asked]
    assert len(ahead) == PAIRS
    assert sum(ahead) / PAIRS >= LEAST


def newer_is_ahead(store: Store, question: str, earlier: str, later: str) -> bool:
    """Whether the answer holds the later fact, and the earlier one behind it or not at all."""
    found = contents(store.recall(question))
    behind = found.index(earlier) if earlier in found else len(found)
    return later in found[:behind]
