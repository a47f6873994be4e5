"""CPU time and memory of other processes, as the kernel counts them (Linux only)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Usage:
    """What each thread of some processes has computed so far, in nanoseconds."""

    threads: dict[Path, int]

    def since(self, earlier: Usage) -> float:
        """CPU seconds used after `earlier` was taken. A thread that ended meanwhile counts as idle."""
        return sum(now - earlier.threads.get(thread, 0) for thread, now in self.threads.items()) / 1e9


def usage(pids: Iterable[int]) -> Usage:
    """The usage of these processes now."""
    threads: dict[Path, int] = {}
    for pid in pids:
        for thread in (_PROC / str(pid) / "task").glob("*/schedstat"):
            with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
                threads[thread] = int(thread.read_text().split()[0])
    return Usage(threads)


def tree(root: int) -> list[int]:
    """A process and everything it started."""
    children: dict[int, list[int]] = {}
    for stat in _PROC.glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = stat.read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def resident_megabytes(pid: int) -> float:
    """The memory of a process, what it shares with others counted in part (PSS)."""
    lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
