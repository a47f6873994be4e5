"""One run per folder: who holds it, and what a run that was killed left behind.

A process is known by its id and its start together; an id alone may have gone to a stranger since.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from omnia.child import Child
from omnia.embedded.running import read_text, write_private


@dataclass(frozen=True, slots=True)
class Process:
    """A process of ours, as noted on disk. `started` is empty when it had ended already."""

    pid: int
    started: str
    stop_signal: int = signal.SIGTERM

    @staticmethod
    def of(child: Child) -> Process:
        pid = child.process.pid
        return Process(pid, started_at(pid), child.stop_signal)

    @property
    def alive(self) -> bool:
        return bool(self.started) and started_at(self.pid) == self.started


def started_at(pid: int) -> str:
    """What tells this process from every other that had or will have its id; empty when there is none."""
    if stat := read_text(Path(f"/proc/{pid}/stat")):
        state, *fields = stat.rpartition(")")[2].split()
        return "" if state in "ZX" else f"{read_text(Path('/proc/sys/kernel/random/boot_id')).strip()} {fields[18]}"
    if Path("/proc/self/stat").exists():
        return ""
    asked = subprocess.run(["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return asked.stdout.strip()


class FolderTakenError(Exception):
    """Another run holds the folder; the message says where it answers."""


@contextmanager
def occupied(folder: Path, *, url: str) -> Iterator[None]:
    """Holds the folder meanwhile. Raises FolderTakenError when another run does."""
    with open(os.open(folder / "run.lock", os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderTakenError(
                f"Omnia Memory already runs in this folder: {_url(file.read())}\nTo stop it: make stop"
            ) from None
        file.truncate(0)
        json.dump({"url": url, "pid": os.getpid(), "started": started_at(os.getpid())}, file)
        file.flush()
        yield


def _url(noted: str) -> str:
    try:
        return str(json.loads(noted)["url"])
    except (ValueError, KeyError):
        return "it is just starting"


def holder(folder: Path) -> Process | None:
    """The run that holds the folder now, if one does."""
    with suppress(ValueError, KeyError, TypeError):
        noted = json.loads(read_text(folder / "run.lock"))
        process = Process(int(noted["pid"]), str(noted["started"]))
        return process if process.alive else None
    return None


def note_children(folder: Path, children: list[Child]) -> None:
    """Remembers the children, for `end_leftovers` of a later run."""
    write_private(folder / "children.json", json.dumps([asdict(Process.of(child)) for child in children]))


def end_leftovers(folder: Path, *, seconds: float = 15) -> None:
    """Ends the children of an earlier run that was killed; the folder must be held."""
    try:
        left = [Process(**noted) for noted in json.loads(read_text(folder / "children.json") or "[]")]
    except (ValueError, TypeError):
        left = []
    left = [process for process in left if process.alive]
    for process in left:
        os.kill(process.pid, process.stop_signal)
    if not await_end(left, seconds=seconds):
        for process in left:
            if process.alive:
                os.killpg(process.pid, signal.SIGKILL)
        await_end(left, seconds=seconds)
    (folder / "children.json").unlink(missing_ok=True)


def await_end(processes: list[Process], *, seconds: float) -> bool:
    """Whether all of them have ended before the time is up."""
    deadline = time.monotonic() + seconds
    while any(process.alive for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
