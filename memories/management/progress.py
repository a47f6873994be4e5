"""How far a long command is: a bar with the time left on a terminal, plain lines anywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

_WIDTH = 30
_LONGEST_NAME = 40
_CLEAR = "\r\x1b[K"


class Screen(Protocol):
    """What is written to, as a Django command has it."""

    def isatty(self) -> bool: ...
    def write(self, msg: str, *, ending: str | None = None) -> None: ...
    def flush(self) -> None: ...


class Progress:
    """Counts work done, in any unit, against `total`."""

    def __init__(self, screen: Screen, *, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen, self._total, self._clock = screen, max(1, total), clock
        self._begun, self._done = clock(), 0
        self._bar = screen.isatty()

    def begin(self, name: str) -> None:
        """Shows what is worked on now."""
        if self._bar:
            bar = drawn(self._done / self._total, elapsed=self._clock() - self._begun)
            self._show(f"{_CLEAR}{bar}  {shown(name)[:_LONGEST_NAME]}")

    def advance(self, amount: int, *, line: str = "") -> None:
        """Counts `amount` as done; `line` says so where no bar does."""
        self._done += amount
        if line and not self._bar:
            self._screen.write(shown(line))

    def interrupt(self) -> None:
        """Takes the bar away, for a line of another kind and at the end."""
        if self._bar:
            self._show(_CLEAR)

    def _show(self, text: str) -> None:
        self._screen.write(text, ending="")
        self._screen.flush()


def drawn(share: float, *, elapsed: float) -> str:
    """The bar for a share of 0 to 1, with the time left once there is something to tell it from; `elapsed` in seconds."""
    filled = int(share * _WIDTH)
    left = f", {timedelta(seconds=round(elapsed / share - elapsed))} left" if share else ""
    return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {share:4.0%}{left}"


def shown(text: str) -> str:
    """The text without what a terminal would obey: a file's name may hold anything."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
