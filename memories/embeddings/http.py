"""Models behind HTTP: an OpenAI-compatible server, or Ollama.

An answer is taken whole or not at all: a wrong count, index, length or number fails the batch, because
a vector that belongs to another text is worse than none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from memories.embeddings.base import EmbeddingFailed, Vector, usable
from memories.embeddings.breaker import CircuitBreaker
from memories.embeddings.exchange import JsonPost

BATCH = 64
LONGEST, SHORTEST = 32_768, 512
"""Characters of a text that are sent at most, and below which a refused text is not shortened further."""

Rows = list[list[float]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of server is asked: the path below its URL, and where its vectors stand in the answer."""

    name: str
    path: str
    read: Callable[[Any], Rows]


class HttpEmbedder:
    """Vectors from a server. Without `dimensions` the first answer settles their length."""

    def __init__(
        self,
        *,
        dialect: Dialect,
        url: str,
        model: str,
        api_key: str = "",
        dimensions: int = 0,
        timeout_seconds: float = 10.0,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._dialect = dialect
        self._model = model
        self._dimensions = dimensions
        self._breaker = breaker or CircuitBreaker()
        self._post = JsonPost(url + dialect.path, headers=headers, deadline_seconds=timeout_seconds)

    @property
    def name(self) -> str:
        return f"{self._dialect.name}-{self._model}-{self.dimensions}"

    @property
    def dimensions(self) -> int:
        if not self._dimensions:
            self.embed_query("How many dimensions?")
        return self._dimensions

    def embed_query(self, text: str) -> Vector | None:
        return self.embed_passages([text])[0]

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | None]:
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        return [vector for batch in batches for vector in self._embed([text[:LONGEST] for text in batch])]

    def _embed(self, texts: list[str]) -> list[Vector | None]:
        """A single text that is refused may be too long for the model: its beginning is tried instead."""
        try:
            return self._ask(texts)
        except EmbeddingFailed as refusal:
            if not refusal.permanent or len(texts) > 1 or len(texts[0]) < 2 * SHORTEST:
                raise
        return self._embed([texts[0][: len(texts[0]) // 2]])

    def _ask(self, texts: list[str]) -> list[Vector | None]:
        self._breaker.admit()
        try:
            vectors = self._vectors(self._post({"model": self._model, "input": texts}), count=len(texts))
        except EmbeddingFailed as failure:
            # A refusal is an answer: the provider is well.
            (self._breaker.succeeded if failure.permanent else self._breaker.failed)()
            raise
        self._breaker.succeeded()
        return vectors

    def _vectors(self, answer: Any, *, count: int) -> list[Vector | None]:
        try:
            rows = self._dialect.read(answer)
        except (KeyError, TypeError, IndexError):
            raise EmbeddingFailed(f"the answer is not one of the {self._dialect.name} embeddings API") from None
        if len(rows) != count:
            raise EmbeddingFailed(f"the embedding provider gave {len(rows)} vectors for {count} texts")
        if not all(_is_numbers(row) for row in rows):
            raise EmbeddingFailed("the embedding provider gave something other than lists of finite numbers")
        dimensions = self._dimensions or len(rows[0])
        vectors = [usable(row, dimensions) for row in rows]
        self._dimensions = dimensions
        return vectors


def _is_numbers(row: object) -> bool:
    return isinstance(row, list) and bool(row) and all(type(x) in (float, int) and math.isfinite(x) for x in row)


def _read_openai(answer: Any) -> Rows:
    """The vectors by their `index`, which need not come in order."""
    by_index = {entry["index"]: entry["embedding"] for entry in answer["data"]}
    if len(by_index) != len(answer["data"]):
        raise EmbeddingFailed("the embedding provider gave one index twice")
    return [by_index[index] for index in range(len(by_index))]


def _read_ollama(answer: Any) -> Rows:
    return list(answer["embeddings"])


OPENAI = Dialect(name="openai", path="/embeddings", read=_read_openai)
OLLAMA = Dialect(name="ollama", path="/api/embed", read=_read_ollama)
