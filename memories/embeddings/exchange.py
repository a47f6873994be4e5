"""One JSON POST to an embedding provider: its answer decoded, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
import orjson

from memories.embeddings.base import EmbeddingFailed
from omnia.exchange import Answer, Exchange, ExchangeFailed

LARGEST_ANSWER = 8 * 1024 * 1024
"""Bytes. 64 vectors of 2,000 numbers written out in full take half of it."""

_REFUSALS = frozenset({400, 413, 422})
"""What providers answer when it is the input they do not take."""


class JsonPost:
    """Posts to one address."""

    def __init__(self, url: str, *, headers: Mapping[str, str], deadline_seconds: float) -> None:
        self._url = url
        self._exchange = Exchange(
            "embedding-provider",
            headers={**headers, "content-type": "application/json"},
            deadline_seconds=deadline_seconds,
            largest_answer=LARGEST_ANSWER,
        )

    def __call__(self, payload: Mapping[str, Any]) -> Any:
        """The decoded answer. Raises EmbeddingFailed, `permanent` when the provider refused the input."""
        body = _encoded(payload)
        try:
            return _decoded(self._exchange.ask("POST", self._url, body=body))
        except ExchangeFailed as failure:
            raise EmbeddingFailed(f"the embedding provider {failure}") from None


def _encoded(payload: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(payload)
    except TypeError:
        raise EmbeddingFailed("a text is not valid Unicode", permanent=True) from None


def _decoded(answer: Answer) -> Any:
    if answer.status in _REFUSALS:
        raise EmbeddingFailed(f"the embedding provider refused the input ({answer.status})", permanent=True)
    if answer.status != httpx.codes.OK:
        raise EmbeddingFailed(
            f"the embedding provider answered {answer.status}; check OMNIA_EMBEDDING_URL, _MODEL and _API_KEY"
        )
    try:
        return orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        raise EmbeddingFailed("the embedding provider's answer is not JSON") from None
