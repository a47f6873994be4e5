"""One HTTP exchange with another service, under one deadline that nothing outlives.

A client's own timeouts are per read: a server that drips a byte a second stays below each of them for
ever. Here the whole exchange, from the name look-up to the last byte, is one cancellable coroutine.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass

import httpx


class ExchangeFailed(Exception):
    """There is no answer to speak of; the message says why, beginning with the verb."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    """Empty unless the status is 200."""


class Exchange:
    """Asks one service. Follows no redirect, reads no proxy from the environment, repeats nothing."""

    def __init__(self, name: str, *, headers: Mapping[str, str], deadline_seconds: float, largest_answer: int) -> None:
        """`name` is for the thread; `largest_answer` is in bytes."""
        self._deadline = deadline_seconds
        self._largest = largest_answer
        self._client = httpx.AsyncClient(
            headers={**headers, "accept-encoding": "identity"},
            timeout=None,  # noqa: S113 - the deadline holds for everything at once
            trust_env=False,
            follow_redirects=False,
        )
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name=name, daemon=True).start()

    def ask(self, method: str, url: str, *, body: bytes = b"") -> Answer:
        """Raises ExchangeFailed without an answer in time and size."""
        exchange = asyncio.run_coroutine_threadsafe(self._ask(method, url, body), self._loop)
        try:
            return exchange.result(self._deadline + 1)  # in case the loop itself is stuck
        except TimeoutError:
            raise ExchangeFailed(f"did not answer within {self._deadline:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ExchangeFailed(f"cannot be reached ({type(error).__name__})") from None

    async def _ask(self, method: str, url: str, body: bytes) -> Answer:
        async with asyncio.timeout(self._deadline), self._client.stream(method, url, content=body) as response:
            if response.status_code != httpx.codes.OK:
                return Answer(response.status_code, b"")
            answer = bytearray()
            async for part in response.aiter_raw():
                answer += part
                if len(answer) > self._largest:
                    raise ExchangeFailed(f"gave an answer larger than {self._largest} bytes")
            return Answer(response.status_code, bytes(answer))
