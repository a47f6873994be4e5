"""How often one caller may ask: OMNIA_RATE_LIMIT_PER_MINUTE, counted in Redis; 0 means no limit.

It fails open: a limit that cannot be counted must not take the service down with Redis.
"""

from __future__ import annotations

import logging
import time
from functools import cache

import redis
from django.conf import settings

from omnia.core.errors import RateLimited

log = logging.getLogger(__name__)

_WINDOW_SECONDS = 60
_REST_SECONDS = 5.0
_TIMEOUT_SECONDS = 0.25


def count(caller: str) -> None:
    """Counts one request of `caller`. Raises RateLimited, with Retry-After, when it was one too many."""
    limit: int = settings.OMNIA.rate_limit_per_minute
    if limit and _counter().uses(caller) > limit:
        wait = _WINDOW_SECONDS - int(time.time()) % _WINDOW_SECONDS
        raise RateLimited(f"At most {limit} requests a minute; wait {wait} s.", headers={"Retry-After": str(wait)})


class _Counter:
    """The count in Redis; while Redis is away it is asked again only after a rest."""

    def __init__(self) -> None:
        self._redis = redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS
        )
        self._rest_until = 0.0

    def uses(self, caller: str) -> int:
        """The caller's requests in this minute, this one included; 0 when nobody counts."""
        if time.monotonic() < self._rest_until:
            return 0
        key = f"omnia:rate:{caller}:{int(time.time()) // _WINDOW_SECONDS}"
        both = self._redis.pipeline(transaction=False)
        both.set(key, 0, ex=_WINDOW_SECONDS, nx=True)
        both.incr(key)
        try:
            return int(both.execute()[1])
        except redis.RedisError as error:
            self._rest_until = time.monotonic() + _REST_SECONDS
            log.warning("the rate limit is not counted: %s", type(error).__name__)
            return 0


@cache
def _counter() -> _Counter:
    return _Counter()
