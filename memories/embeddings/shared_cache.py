"""Query vectors that all processes share, in Redis behind each process's own cache (design: query-vector cache).

A key is the model and a keyed digest of the question, so that Redis holds no text and nobody who reads it can try
texts. A vector says roughly what was asked, and nothing of by whom; it is gone after ten minutes. Redis that is away
costs the time to make the vector again, never an answer.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
from collections.abc import Callable

import numpy as np
import redis
from django.conf import settings

from memories.embeddings.base import Vector, usable

log = logging.getLogger(__name__)

LIVES_SECONDS = 600
_TIMEOUT_SECONDS = 0.1
_REST_SECONDS = 5.0


class SharedVectors:
    """The vectors of one model's questions."""

    def __init__(self, model: str, *, dimensions: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._prefix = f"omnia:query:{hashlib.blake2b(model.encode(), digest_size=8).hexdigest()}:".encode()
        self._dimensions = dimensions
        self._clock = clock
        self._rests_until = 0.0
        self._redis = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS
        )

    def get(self, text: str) -> Vector | None:
        """The vector of a question asked lately, anywhere; None also for what is no vector of this model."""
        stored = self._ask(lambda: self._redis.get(self._key(text)))
        if not isinstance(stored, bytes) or len(stored) != 4 * self._dimensions:
            return None
        return usable(np.frombuffer(stored, dtype="<f4"), self._dimensions)

    def put(self, text: str, vector: Vector) -> None:
        value = vector.astype("<f4").tobytes()
        self._ask(lambda: self._redis.set(self._key(text), value, ex=LIVES_SECONDS))

    def _ask(self, command: Callable[[], object]) -> object:
        if self._clock() < self._rests_until:
            return None
        try:
            return command()
        except redis.RedisError as error:
            self._rests_until = self._clock() + _REST_SECONDS
            log.warning("query vectors are not shared for a while: %s", type(error).__name__)
            return None

    def _key(self, text: str) -> bytes:
        digest = hmac.digest(settings.SECRET_KEY.encode(), text.encode("utf-8", "surrogatepass"), "sha256")
        return self._prefix + digest[:16].hex().encode()
