"""What an operation costs: CPU time of the program that does it and of the database behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.processes import Usage

Read = Callable[[], Usage]


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU milliseconds."""

    program: float
    database: float

    @property
    def total(self) -> float:
        return self.program + self.database


class Meter:
    """Reads the same processes again and again; each reading tells what they used since the last."""

    def __init__(self, *, program: Read, database: Read) -> None:
        self._program, self._database = program, database
        self._last = program(), database()

    def lap(self, *, operations: int = 1) -> Cost:
        """The cost of one of `operations` equal operations since the last lap."""
        last, self._last = self._last, (self._program(), self._database())
        seconds = [now.since(then) for now, then in zip(self._last, last, strict=True)]
        program, database = (1000 * each / operations for each in seconds)
        return Cost(program, database)
