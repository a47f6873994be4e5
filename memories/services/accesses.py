"""How often and when memories are read, counted off the request path (design: access counts).

A request only notes the ids. A thread writes what was noted every few seconds, one statement for many rows, and skips
the rows somebody holds: a count is worth no wait. What is noted is lost with its process, and nothing else is.
Only memories of a user are counted: the count of a shared one would tell everybody what others ask.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from multiprocessing.util import Finalize
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import Error, connection

from memories.store import memories
from omnia.core.scope import Tier
from omnia.metrics import ACCESSES_DROPPED

log = logging.getLogger(__name__)

MOST_NOTED = 10_000
"""Memories noted at a time; of more, those read longest ago are not counted."""
Noted = dict[UUID, tuple[int, datetime]]


class Accesses:
    """What was read since the last writing."""

    def __init__(self, *, every_seconds: float) -> None:
        """`every_seconds` 0 counts nothing."""
        self._every = every_seconds
        self._noted: Noted = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._writer: threading.Thread | None = None

    def note(self, ids: Iterable[UUID], *, now: datetime) -> None:
        """These were read now; a memory read twice before the writing counts twice and is written once."""
        if not self._every:
            return
        with self._lock:
            for each in ids:
                count, _ = self._noted.pop(each, (0, now))
                self._noted[each] = (count + 1, now)
            while len(self._noted) > MOST_NOTED:
                ACCESSES_DROPPED.inc(self._noted.pop(next(iter(self._noted)))[0])
            self._start()

    def flush(self) -> int:
        """Writes what was noted; how many memories. A store that is away costs the counts."""
        with self._lock:
            noted, self._noted = self._noted, {}
        if not noted:
            return 0
        try:
            return memories.count_accesses(noted)
        except Error:
            ACCESSES_DROPPED.inc(sum(count for count, _ in noted.values()))
            log.warning("the accesses of %d memories could not be counted", len(noted))
            return 0

    def stop(self) -> None:
        """Ends the thread and writes the rest."""
        self._ended.set()
        if self._writer:
            self._writer.join(timeout=5)
        self.flush()

    def _start(self) -> None:
        if self._writer is None:
            self._writer = threading.Thread(target=self._run, name="accesses", daemon=True)
            self._writer.start()
            # Unlike atexit it also runs in a server's worker, which multiprocessing starts.
            Finalize(None, self.stop, exitpriority=1)

    def _run(self) -> None:
        while not self._ended.wait(self._every):
            connection.close_if_unusable_or_obsolete()
            self.flush()
        connection.close()


class _Process:
    accesses: Accesses | None = None


def _forked() -> None:
    """A child has neither the thread nor a share in what its parent noted."""
    _Process.accesses = None


os.register_at_fork(after_in_child=_forked)


def note(rows: Iterable[Mapping[str, Any]], *, now: datetime) -> None:
    """Notes that these rows were read; for those of the shared tiers nothing is noted."""
    if _Process.accesses is None:
        _Process.accesses = Accesses(every_seconds=settings.OMNIA.access_flush_seconds)
    _Process.accesses.note((row["id"] for row in rows if not Tier.from_code(row["tier"]).shared), now=now)
