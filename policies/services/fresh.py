"""Values read from the store at most every few seconds, by one thread at a time (spec: How Policies Are Bound).

A value is never older than its lifetime while the store answers; when it does not, the last good one stands.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db import Error as DatabaseError

log = logging.getLogger(__name__)

Key = TypeVar("Key")
Value = TypeVar("Value")

RETRY_SECONDS = 1.0
"""How long a failed read is not repeated, so that an outage is not met with a read per request."""
_MOST_ENTRIES = 10_000
_STRIPES = 64


@dataclass(frozen=True, slots=True)
class _Entry(Generic[Value]):
    value: Value
    until: float


class Fresh(Generic[Key, Value]):
    """A read-through cache: single flight per key, last good value on a database error.

    `load` reads one value; `fallback` stands in when the database fails before there was a value.
    Without a fallback that failure is the caller's. `clock` counts seconds.
    """

    def __init__(
        self,
        load: Callable[[Key], Value],
        *,
        lifetime: Callable[[], float],
        fallback: Callable[[], Value] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load, self._lifetime, self._fallback, self._clock = load, lifetime, fallback, clock
        self._entries: dict[Key, _Entry[Value]] = {}
        self._locks = tuple(threading.Lock() for _ in range(_STRIPES))
        self._epoch = 0

    def get(self, key: Key) -> Value:
        """The value, read again when its lifetime is over."""
        entry = self._entries.get(key)
        if entry is not None and self._clock() < entry.until:
            return entry.value
        with self._locks[hash(key) % _STRIPES]:
            entry = self._entries.get(key)
            if entry is not None and self._clock() < entry.until:
                return entry.value
            return self._read(key, entry)

    def forget(self, key: Key) -> None:
        """The next `get` of this key reads."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """Every next `get` reads; a read that is under way now is not kept."""
        self._epoch += 1
        self._entries.clear()

    def _read(self, key: Key, last: _Entry[Value] | None) -> Value:
        epoch = self._epoch
        try:
            value, seconds = self._load(key), self._lifetime()
        except DatabaseError as error:
            if last is None and self._fallback is None:
                raise
            log.warning("the store does not answer (%s); keeping what was known", type(error).__name__)
            value = last.value if last is not None else self._fallback()  # type: ignore[misc]  # checked above
            seconds = RETRY_SECONDS
        if epoch == self._epoch:
            self._keep(key, _Entry(value, self._clock() + seconds))
        return value

    def _keep(self, key: Key, entry: _Entry[Value]) -> None:
        if len(self._entries) >= _MOST_ENTRIES and key not in self._entries:
            self._entries.pop(next(iter(self._entries)), None)
        self._entries[key] = entry
