"""Texts to vectors for the use cases: outside any transaction, and never an error.

A text without a vector is saved all the same and found by its words; its vector follows in the background.
"""

from __future__ import annotations

from collections.abc import Sequence

from memories.domain.embedding_text import embedding_text
from memories.embeddings import current
from memories.embeddings.base import Vector
from memories.embeddings.halfvec import to_halfvec
from memories.store.vectors import ModelVector


def for_passage(content: str, *, title: str | None) -> ModelVector | None:
    """The vector a memory is found by; None without an embedder, on its failure, or for a text that has none."""
    seat = current.seat()
    return _of_model(current.passage_vector(embedding_text(title, content), on=seat), seat)


def for_passages(texts: Sequence[str]) -> list[ModelVector | None]:
    """As `for_passage`, of many embedding texts in one call of the embedder."""
    if not texts:
        return []
    seat = current.seat()
    return [_of_model(vector, seat) for vector in current.passage_vectors_or_none(texts, on=seat)]


def for_query(text: str) -> ModelVector | None:
    """The vector to search with; None for an empty question too."""
    if not text:
        return None
    seat = current.seat()
    return _of_model(current.query_vector(text, on=seat), seat)


def changing() -> bool:
    """Whether a change to another model runs."""
    return current.seat().changing


def _of_model(vector: Vector | None, seat: current.Seat) -> ModelVector | None:
    """The vector with the model that made it: both of one seat, whatever changes meanwhile."""
    model = current.model_row_id(on=seat) if vector is not None else None
    if vector is None or model is None:
        return None
    return ModelVector(to_halfvec(vector), model, len(vector))


def follow_later() -> bool:
    """Whether a memory saved without a vector should get one in the background."""
    return current.current() is not None
