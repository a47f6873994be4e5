"""A vector as statements take it: the numbers, the model whose rows they may be compared with, and where it stands.

A memory's row has room for the vectors of two models, the one in use and the one beside it: that which is to follow,
or which went before. Each says its model, so that vectors of two models never meet in one distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from pgvector import HalfVector


class Slot(IntEnum):
    """Where a model's vectors stand in a row."""

    FIRST = 0
    SECOND = 1

    @property
    def other(self) -> Slot:
        return Slot(1 - self)

    @property
    def column(self) -> str:
        return "second_embedding" if self else "embedding"

    @property
    def model_column(self) -> str:
        return f"{self.column}_model_id"


@dataclass(frozen=True, slots=True)
class Shape:
    """What of a vector must stand in the text of a statement, and not in a parameter."""

    dimensions: int
    slot: Slot


NO_SHAPE = Shape(1, Slot.FIRST)
"""For a question without a vector: any will do, as nothing is compared."""


@dataclass(frozen=True, slots=True)
class ModelVector:
    """`model` is the EmbeddingModel row. `beside` is the vector of the same text by the model beside the one in use.

    `complete` False: that one is missing, and has to follow.
    """

    vector: HalfVector
    model: int
    dimensions: int
    slot: Slot = Slot.FIRST
    beside: ModelVector | None = None
    complete: bool = True

    @property
    def shape(self) -> Shape:
        return Shape(self.dimensions, self.slot)


def shape_of(vector: ModelVector | None) -> Shape:
    return vector.shape if vector else NO_SHAPE


def column_parameters(vector: ModelVector | None) -> dict[str, Any]:
    """What the four columns of a row hold with this vector, and the one beside it."""
    held = {each.slot: each for each in (vector, vector.beside if vector else None) if each}
    first, second = held.get(Slot.FIRST), held.get(Slot.SECOND)
    return {
        "vector": first.vector if first else None,
        "model": first.model if first else None,
        "second_vector": second.vector if second else None,
        "second_model": second.model if second else None,
    }
