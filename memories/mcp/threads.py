"""Where database work is done, for the event loop must not wait for it.

A fixed set of threads, so that a fixed number of connections is open; each is kept between calls unless it broke.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import close_old_connections

T = TypeVar("T")


class DatabaseThreads:
    """At most `size` pieces of work at a time."""

    def __init__(self, size: int) -> None:
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="mcp")

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` returns or raises, once one of the threads has done it."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, _between_cleanups, work)


def _between_cleanups(work: Callable[[], T]) -> T:
    close_old_connections()
    try:
        return work()
    finally:
        close_old_connections()
