"""A vector as statements take it: the numbers, and the model whose rows they may be compared with."""

from __future__ import annotations

from dataclasses import dataclass

from pgvector import HalfVector


@dataclass(frozen=True, slots=True)
class ModelVector:
    """`model` is the EmbeddingModel row; vectors of two models are never compared."""

    vector: HalfVector
    model: int
    dimensions: int
