"""What every embedder promises, and the one gate a vector passes before anything compares it.

A vector of ours is float32, of unit length, and finite. A zero or non-finite one is no vector at all:
PostgreSQL holds that `1 - NaN >= 0.95`, so a stored one would merge with every memory of its scope.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float32]
"""A read-only float32 array of unit length."""


class EmbeddingFailed(Exception):
    """No vectors came back. The message names the fix and never holds a text.

    `permanent` says that these texts were refused: asking the same again will not help.
    """

    def __init__(self, detail: str, *, permanent: bool = False) -> None:
        super().__init__(detail)
        self.permanent = permanent


class Embedder(Protocol):
    """A model that turns texts into vectors. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """The model's id. Whatever changes its vectors (prefixes, dimension) is part of it."""

    @property
    def dimensions(self) -> int:
        """The length of every vector. May raise EmbeddingFailed while a provider has not told it yet."""

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | None]:
        """One entry per text, in order; None where the text has no usable vector. Raises EmbeddingFailed."""

    def embed_query(self, text: str) -> Vector | None:
        """The vector to search with; None where the text has none. Raises EmbeddingFailed."""


def usable(values: ArrayLike, dimensions: int) -> Vector | None:
    """The unit vector along `values`, or None when they are all zero or any is not finite.

    Raises EmbeddingFailed when there are not exactly `dimensions` numbers.
    """
    exact = np.asarray(values, dtype=np.float64)
    if exact.shape != (dimensions,):
        raise EmbeddingFailed(
            f"the model gave {exact.size} numbers where {dimensions} were due; set OMNIA_EMBEDDING_DIMENSIONS"
        )
    largest = np.abs(exact).max()
    if not np.isfinite(largest) or largest == 0:
        return None
    scaled = exact / largest  # so that squaring neither overflows nor vanishes
    unit: Vector = (scaled / np.linalg.norm(scaled)).astype(np.float32)
    unit.setflags(write=False)
    return unit


@dataclass(frozen=True, slots=True)
class Prefixed:
    """An embedder whose model wants a query and a passage introduced by different words."""

    inner: Embedder
    query: str
    passage: str

    @property
    def name(self) -> str:
        words = f"{len(self.query)}:{self.query}{self.passage}".encode()
        return f"{self.inner.name}+{hashlib.sha256(words).hexdigest()[:12]}"

    @property
    def dimensions(self) -> int:
        return self.inner.dimensions

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | None]:
        return self.inner.embed_passages([self.passage + text for text in texts])

    def embed_query(self, text: str) -> Vector | None:
        return self.inner.embed_query(self.query + text)


class Unavailable:
    """In the place of an embedder that could not be built: says why to whoever asks, so that saves go on."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure

    @property
    def name(self) -> str:
        raise self._failed()

    @property
    def dimensions(self) -> int:
        raise self._failed()

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | None]:
        raise self._failed()

    def embed_query(self, text: str) -> Vector | None:
        raise self._failed()

    def _failed(self) -> EmbeddingFailed:
        return EmbeddingFailed(str(self.failure))
