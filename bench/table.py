"""Figures as a table of text, under the conditions they were measured in."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psycopg

_ROOT = Path(__file__).resolve().parent.parent

Cell = str | float


class Table:
    """A titled table; numbers are shown with three significant digits."""

    def __init__(self, title: str, columns: Sequence[str]) -> None:
        self._title = title
        self._rows: list[tuple[str, ...]] = [tuple(columns)]

    def add(self, *cells: Cell) -> None:
        self._rows.append(tuple(_shown(cell) for cell in cells))

    def text(self, notes: str = "") -> str:
        widths = [max(map(len, column)) for column in zip(*self._rows, strict=True)]
        lines = [_line(row, widths) for row in self._rows]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join((f"\n{self._title}", *([notes] if notes else []), lines[0], rule, *lines[1:]))


def conditions(database_url: str, *more: str) -> str:
    """The machine, the database and the commit, in one line."""
    with psycopg.connect(database_url) as connection:
        (version,) = connection.execute("SELECT split_part(version(), ' ', 2)").fetchone() or ("?",)
    cores = len(os.sched_getaffinity(0))
    parts = (_cpu_model(), f"{cores} cores", f"PostgreSQL {version}", f"commit {_commit()}", *more)
    return ", ".join(parts)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.ljust(width) if n == 0 else cell.rjust(width)
        for n, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join((first, *others)).rstrip()


def _shown(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    return f"{cell:,.0f}" if abs(cell) >= 1000 or float(cell).is_integer() else f"{cell:.3g}"


def _cpu_model() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1].strip() if found else "unknown CPU"


def _commit() -> str:
    command = ["git", "-C", str(_ROOT), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
    return done.stdout.strip() or "unknown"
