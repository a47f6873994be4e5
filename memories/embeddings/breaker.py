"""Stops asking a provider that does not answer, so that saves and recalls do not each wait for its timeout."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from memories.embeddings.base import EmbeddingFailed

FAILURES = 3
REST_SECONDS = 5.0


class CircuitBreaker:
    """After `FAILURES` failures in a row, calls fail at once for `REST_SECONDS`; then one call tries again."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._rests_until = 0.0

    def admit(self) -> None:
        """Raises EmbeddingFailed while the provider rests."""
        with self._lock:
            if self._failures < FAILURES:
                return
            now = self._clock()
            if now < self._rests_until:
                raise EmbeddingFailed("the embedding provider failed repeatedly; it is asked again in a few seconds")
            self._rests_until = now + REST_SECONDS  # this call tries; the others go on failing fast meanwhile

    def succeeded(self) -> None:
        with self._lock:
            self._failures = 0

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            self._rests_until = self._clock() + REST_SECONDS
