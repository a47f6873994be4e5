"""Child processes that never outlive us and whose last words are kept.

Each child leads its own process group, so Ctrl+C on the terminal reaches us alone and we stop the
children in order; each writes to its own log file; on Linux each gets its stop signal from the
kernel when we are killed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class ChildError(Exception):
    """A child that should run has ended, or was not ready in time; the message holds its last log lines."""


@dataclass(frozen=True, slots=True)
class Child:
    """A running child process: its name for people, its log, and the signal that asks it to stop."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    stop_signal: signal.Signals

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def failure(self) -> ChildError:
        """What to tell the operator about a child that ended by itself."""
        code = self.process.returncode
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return ChildError(f"{self.name} {how}. The last lines of {self.log}:\n{tail(self.log)}")

    def await_ready(self, ready: Callable[[], bool], *, seconds: float) -> None:
        """Returns once `ready()` holds. Raises ChildError when the child ends first or time runs out."""
        deadline = time.monotonic() + seconds
        while not ready():
            if self.ended:
                raise self.failure()
            if time.monotonic() > deadline:
                raise ChildError(f"{self.name} is not ready after {seconds:g} s. {self.log} ends:\n{tail(self.log)}")
            time.sleep(0.02)

    def ask_to_stop(self) -> None:
        if not self.ended:
            self.process.send_signal(self.stop_signal)

    def kill_group(self) -> None:
        """Ends the child and whatever it started; harmless when they are gone."""
        with suppress(ProcessLookupError, PermissionError):  # the latter is macOS's word for a group of zombies
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self, *, seconds: float) -> None:
        """Asks, waits at most `seconds`, then kills. What the child itself started goes with it."""
        self.ask_to_stop()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        self.kill_group()


def spawn(
    name: str,
    command: Sequence[str | Path],
    *,
    log: Path,
    stop_signal: signal.Signals = signal.SIGTERM,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Child:
    """Starts a child whose output goes to `log`; the log of its previous run is kept as `<log>.1`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists():
        log.replace(log.with_name(f"{log.name}.1"))
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=None if env is None else dict(env),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_tie_to_parent(os.getpid(), stop_signal),  # noqa: PLW1509 - we are single-threaded when we spawn
        )
    return Child(name, process, log, stop_signal)


def end_with_parent(stop_signal: signal.Signals) -> None:
    """Has the kernel send us `stop_signal` when our parent ends; only Linux can."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(stop_signal))


def _tie_to_parent(parent: int, stop_signal: signal.Signals) -> Callable[[], None]:
    def tie() -> None:
        end_with_parent(stop_signal)
        if os.getppid() != parent:
            os._exit(1)

    return tie


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log, indented for a message."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "  (no log)"
    return "\n".join(f"  {line}" for line in text.splitlines()[-lines:]) or "  (empty)"
