"""A store as it may look after a year: whose rows, how old, how alike.

50 workspaces of 200 users, active by Zipf's law; one in five rows is institutional and half of those stand
in the first workspace; ages fall off exponentially and seven in ten rows expire. A row's text mixes two
base texts and its vector mixes theirs, so that neighbours are as near and as many as real ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.conversations import conversations
from bench.words import sentences

WORKSPACES, USERS_EACH, AGENTS = 50, 200, 10
_TEXTS_WITHOUT_CONVERSATIONS, _QUESTIONS = 3_000, 400
_CACHE = Path(__file__).resolve().parent.parent / ".omnia/bench"
_EXPIRY = timedelta(days=180)
_NOISE = 0.012

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Row:
    """One memory to be; `workspace` counts from 1."""

    workspace: int
    tier: int
    user: str | None
    agent: str | None
    explicit: bool
    title: str
    content: str
    created_at: datetime
    expires_at: datetime | None
    vector: Vectors


@dataclass(frozen=True, slots=True)
class Corpus:
    """Base texts with the local model's vectors, and questions about them."""

    texts: Sequence[str]
    vectors: Vectors
    questions: Sequence[str]


def corpus() -> Corpus:
    """From the conversations where they are, else from words of our own. Embeds each text once, ever."""
    told = conversations()
    texts = [turn.text.partition(": ")[2] for each in told for turn in each.turns]
    questions = [question.text for each in told for question in each.questions]
    if not told:
        texts = sentences(_TEXTS_WITHOUT_CONVERSATIONS)
        questions = [f"who {text.split()[1]} what, and when?" for text in texts[:_QUESTIONS]]
    return Corpus(texts, _embedded(texts), questions)


def _embedded(texts: Sequence[str]) -> Vectors:
    from memories.embeddings.local import LocalEmbedder

    digest = hashlib.sha256("\0".join((LocalEmbedder.name, *texts)).encode()).hexdigest()[:16]
    kept = _CACHE / f"vectors-{digest}.npy"
    if kept.exists():
        loaded: Vectors = np.load(kept)
        return loaded
    found = np.array([_some(vector, LocalEmbedder.dimensions) for vector in LocalEmbedder().embed_passages(texts)])
    kept.parent.mkdir(parents=True, exist_ok=True)
    np.save(kept, found)
    return found


def _some(vector: Any, dimensions: int) -> Vectors:
    """The vector, or for a text without one a direction of its own."""
    return np.eye(1, dimensions, dtype=np.float32)[0] if vector is None else vector


def rows(count: int, *, corpus: Corpus, seed: int, now: datetime) -> Iterator[Row]:
    """`count` rows, in no order; the same for the same seed."""
    random = np.random.default_rng(seed)
    first, second = random.integers(0, len(corpus.texts), (2, count))
    tier = random.choice(4, count, p=(0.2, 0.1, 0.6, 0.1))
    user = _by_zipf(random, WORKSPACES * USERS_EACH, count, exponent=0.8)
    shared_in = _by_zipf(random, WORKSPACES, count, exponent=1.0)
    shared_in[(tier == 0) & (random.random(count) < 0.4)] = 0
    workspace = np.where(tier <= 1, shared_in, user % WORKSPACES) + 1
    agent = random.integers(1, AGENTS + 1, count)
    vectors = _mixed(random, corpus.vectors, first, second)
    age, expires, explicit = random.exponential(60, count), random.random(count) < 0.7, random.random(count) < 0.5
    for i in range(count):
        created_at = now - timedelta(days=float(age[i]))
        text = corpus.texts[first[i]]
        yield Row(
            workspace=int(workspace[i]),
            tier=int(tier[i]),
            user=f"user-{user[i]}" if tier[i] >= 2 else None,
            agent=f"agent-{agent[i]}" if tier[i] in (1, 3) else None,
            explicit=bool(explicit[i]),
            title=" ".join(text.split()[:5]),
            content=f"{text} {' '.join(corpus.texts[second[i]].split()[:10])}",
            created_at=created_at.astimezone(UTC),
            expires_at=created_at + _EXPIRY if expires[i] else None,
            vector=vectors[i],
        )


def _by_zipf(random: np.random.Generator, kinds: int, count: int, *, exponent: float) -> NDArray[np.int64]:
    weights = np.arange(1, kinds + 1) ** -exponent
    return random.choice(kinds, count, p=weights / weights.sum())


def _mixed(random: np.random.Generator, base: Vectors, first: NDArray[np.int64], second: NDArray[np.int64]) -> Vectors:
    count, dimensions = len(first), base.shape[1]
    share = random.uniform(0.55, 0.85, count).astype(np.float32)[:, None]
    mixed = share * base[first] + (1 - share) * base[second]
    mixed += random.standard_normal((count, dimensions), dtype=np.float32) * _NOISE
    unit: Vectors = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return unit
