"""One JSON POST to an embedding provider, under one deadline that nothing outlives.

A client's own timeouts are per read: a server that drips a byte a second stays below each of them for
ever. Here the whole exchange, from the name look-up to the last byte, is one cancellable coroutine.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import httpx
import orjson

from memories.embeddings.base import EmbeddingFailed

LARGEST_ANSWER = 8 * 1024 * 1024
"""Bytes. 64 vectors of 2,000 numbers written out in full take half of it."""

_REFUSALS = frozenset({400, 413, 422})
"""What providers answer when it is the input they do not take."""


class JsonPost:
    """Posts to one address. Follows no redirect, reads no proxy from the environment, repeats nothing."""

    def __init__(self, url: str, *, headers: Mapping[str, str], deadline_seconds: float) -> None:
        self._url = url
        self._deadline = deadline_seconds
        self._client = httpx.AsyncClient(
            headers={**headers, "content-type": "application/json", "accept-encoding": "identity"},
            timeout=None,  # noqa: S113 - the deadline holds for everything at once
            trust_env=False,
            follow_redirects=False,
        )
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="embedding-provider", daemon=True).start()

    def __call__(self, payload: Mapping[str, Any]) -> Any:
        """The decoded answer. Raises EmbeddingFailed, `permanent` when the provider refused the input."""
        body = _encoded(payload)
        exchange = asyncio.run_coroutine_threadsafe(self._exchange(body), self._loop)
        try:
            status, answer = exchange.result(self._deadline + 1)  # in case the loop itself is stuck
        except TimeoutError:
            raise EmbeddingFailed(f"the embedding provider did not answer within {self._deadline:g} s") from None
        except httpx.HTTPError as error:
            raise EmbeddingFailed(f"the embedding provider cannot be reached ({type(error).__name__})") from None
        return _decoded(status, answer)

    async def _exchange(self, body: bytes) -> tuple[int, bytes]:
        async with asyncio.timeout(self._deadline), self._client.stream("POST", self._url, content=body) as response:
            if response.status_code != httpx.codes.OK:
                return response.status_code, b""
            answer = bytearray()
            async for part in response.aiter_raw():
                answer += part
                if len(answer) > LARGEST_ANSWER:
                    raise EmbeddingFailed(f"the embedding provider's answer is larger than {LARGEST_ANSWER} bytes")
            return response.status_code, bytes(answer)


def _encoded(payload: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(payload)
    except TypeError:
        raise EmbeddingFailed("a text is not valid Unicode", permanent=True) from None


def _decoded(status: int, answer: bytes) -> Any:
    if status in _REFUSALS:
        raise EmbeddingFailed(f"the embedding provider refused the input ({status})", permanent=True)
    if status != httpx.codes.OK:
        raise EmbeddingFailed(
            f"the embedding provider answered {status}; check OMNIA_EMBEDDING_URL, _MODEL and _API_KEY"
        )
    try:
        return orjson.loads(answer)
    except orjson.JSONDecodeError:
        raise EmbeddingFailed("the embedding provider's answer is not JSON") from None
