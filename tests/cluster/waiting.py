"""Waiting for what another thread brings about."""

from __future__ import annotations

import time
from collections.abc import Callable

LONGEST_SECONDS = 20.0


def eventually(holds: Callable[[], object], *, within: float = LONGEST_SECONDS) -> None:
    """Returns as soon as `holds()` is true; fails the test when it never is."""
    ends = time.monotonic() + within
    while not holds():
        assert time.monotonic() < ends, "it did not come about in time"
        time.sleep(0.02)
