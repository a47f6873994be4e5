"""Texts to vectors for the use cases: outside any transaction, and never an error.

A text without a vector is saved all the same and found by its words; its vector follows in the background.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pgvector import HalfVector

from memories.domain.embedding_text import embedding_text
from memories.embeddings import current
from memories.embeddings.base import Vector
from memories.embeddings.halfvec import to_halfvec
from memories.embeddings.seat import Seat
from memories.store.vectors import ModelVector


def for_passage(content: str, *, title: str | None) -> ModelVector | None:
    """The vector a memory is found by; None without an embedder, on its failure, or for a text that has none."""
    text = embedding_text(title, content)
    [vector] = _made(lambda seat: [seat.passage_vector(text)])
    return vector


def for_passages(texts: Sequence[str]) -> list[ModelVector | None]:
    """As `for_passage`, of many embedding texts in one call of the embedder."""
    return _made(lambda seat: seat.passage_vectors_or_none(texts)) if texts else []


def for_query(text: str) -> ModelVector | None:
    """The vector to search with; None for an empty question too."""
    seat = current.seat()
    return of_model(seat.query_vector(text), seat) if text else None


def held(row: Mapping[str, Any]) -> ModelVector | None:
    """The vector a row has of the model in use, to compare it with others."""
    seat = current.seat()
    stored, model = row[seat.slot.column], row[seat.slot.model_column]
    if stored is None or model != seat.model_row_id():
        return None
    vector = HalfVector.from_binary(stored)
    return ModelVector(vector, model, vector.dimensions(), seat.slot)


def follow_later() -> bool:
    """Whether a memory saved without a vector should get one in the background."""
    return current.seat().embedder is not None


def of_model(vector: Vector | None, seat: Seat) -> ModelVector | None:
    """The vector with the model that made it: both of one seat, whatever changes meanwhile."""
    model = seat.model_row_id() if vector is not None else None
    if vector is None or model is None:
        return None
    return ModelVector(to_halfvec(vector), model, len(vector), seat.slot)


def _made(make: Callable[[Seat], list[Vector | None]]) -> list[ModelVector | None]:
    """The vectors by the model in use, each with the one by the model beside it."""
    using = current.in_use()
    vectors = [of_model(vector, using.active) for vector in make(using.active)]
    if using.beside is None or not any(vectors):
        return vectors
    others = [of_model(vector, using.beside) for vector in make(using.beside)]
    return [
        replace(vector, beside=other, complete=other is not None) if vector else None
        for vector, other in zip(vectors, others, strict=True)
    ]
