"""Identifiers: UUID version 7 (RFC 9562), so that ids sort by the moment they were made."""

import os
import threading
import time
import uuid

_lock = threading.Lock()
_last = 0


def uuid7() -> uuid.UUID:
    """A new UUIDv7. Within one process each is greater than the one before it.

    The 48-bit millisecond clock is followed by 12 bits of sub-millisecond time, which a burst of
    ids in one tick counts up, so a list ordered by (time, id) keeps the order of the writes.
    """
    global _last  # noqa: PLW0603 - one clock for the process
    with _lock:
        ticks = max(time.time_ns() * 4096 // 1_000_000, _last + 1)
        _last = ticks
    random = int.from_bytes(os.urandom(8), "big") >> 2
    value = (ticks >> 12) << 80 | 0x7 << 76 | (ticks & 0xFFF) << 64 | 0b10 << 62 | random
    return uuid.UUID(int=value)
