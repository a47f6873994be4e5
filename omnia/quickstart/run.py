"""One run: the servers, the migrated and seeded database, web, worker and beat; and their orderly end."""

from __future__ import annotations

import os
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from omnia.child import Child, ChildError, end_with_parent, spawn
from omnia.embedded.running import QUICK_START, secret_key
from omnia.embedded.servers import Servers
from omnia.embedded.wheels import EmbeddedError
from omnia.quickstart import occupancy
from omnia.quickstart.address import Address
from omnia.quickstart.credentials import Credentials
from omnia.quickstart.panel import render, wants_colour

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".omnia"
_SECONDS_TO_STOP = {"web": 10, "beat": 5, "worker": 20}


class StopRequestedError(Exception):
    """Somebody pressed Ctrl+C or asked us to end."""


class Run:
    """What one `make run` has started, in the order it will be stopped."""

    def __init__(self, folder: Path, address: Address) -> None:
        self.folder = folder
        self.address = address
        self.servers = Servers(folder)
        self.programs: dict[str, Child] = {}
        self.env = self._environment()

    def start(self) -> Credentials:
        """Everything, until requests are served. Raises ChildError or EmbeddedError."""
        if not os.environ.get("REDIS_URL"):
            self.servers.start_redis()
        if not os.environ.get("DATABASE_URL"):
            self.servers.start_postgres()
        kept = self.folder / "quickstart.json"
        self._finish("seed", [sys.executable, "-m", "omnia.quickstart.seed", kept, self.address.url])
        for name in ("web", "worker", "beat"):
            self._start(name, ["/bin/sh", "deploy/entrypoint", name])
        self._await_ready()
        return Credentials.read(kept)

    def watch(self) -> NoReturn:
        """Raises ChildError as soon as a child ends."""
        while True:
            self._check()
            time.sleep(0.2)

    def stop(self) -> None:
        """Web first, so that nothing new comes in, the database last."""
        for name, seconds in _SECONDS_TO_STOP.items():
            if child := self.programs.get(name):
                child.stop(seconds=seconds)
        self.servers.stop()

    def kill(self) -> None:
        for child in self._children():
            child.kill_group()

    def _children(self) -> Iterator[Child]:
        yield from self.programs.values()
        yield from (child for child in (self.servers.redis, self.servers.postgres) if child)

    def _start(self, name: str, command: list[str | Path]) -> Child:
        child = spawn(name, command, log=self.folder / f"logs/{name}.log", env=self.env, cwd=ROOT)
        self.programs[name] = child
        occupancy.note_children(self.folder, list(self._children()))
        return child

    def _finish(self, name: str, command: list[str | Path]) -> None:
        """Runs a step that must end well before the next."""
        child = self._start(name, command)
        child.process.wait()
        del self.programs[name]
        if child.process.returncode:
            raise child.failure()

    def _await_ready(self, *, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not _is_ready(self.address.url):
            self._check()
            if time.monotonic() > deadline:
                raise ChildError(f"{self.address.url}/readyz is not green after {seconds:g} s; see .omnia/logs/web.log")
            time.sleep(0.05)

    def _check(self) -> None:
        for child in self._children():
            if child.ended:
                raise child.failure()

    def _environment(self) -> dict[str, str]:
        ours = {
            "DATABASE_URL": self.servers.database_url,
            "REDIS_URL": self.servers.redis_url,
            "DJANGO_SETTINGS_MODULE": "omnia.settings",
            "OMNIA_SECRET_KEY": secret_key(self.folder),
            **QUICK_START,
        }
        given = {name: value for name, value in os.environ.items() if value}
        return (
            ours
            | given
            | {
                "HOST": self.address.host,
                "PORT": str(self.address.port),
                "OMNIA_BEAT_SCHEDULE": str(self.folder / "beat-schedule"),
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            }
        )


def main() -> int:
    """`make run`. 0 when asked to stop, 1 when a child ended by itself. Raises what keeps it from starting."""
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    address = Address.from_env(os.environ)
    if "MAKELEVEL" in os.environ:
        end_with_parent(signal.SIGTERM)
    with occupancy.occupied(FOLDER, url=address.url):
        _listen_for_stop()
        occupancy.end_leftovers(FOLDER)
        address.check_free()
        return _serve(Run(FOLDER, address))


def _serve(run: Run) -> int:
    try:
        _say("Starting; the first time takes a little longer ...")
        credentials = run.start()
        print(render(credentials, url=run.address.url, colour=wants_colour(sys.stdout, os.environ)), flush=True)
        run.watch()
    except StopRequestedError:
        return 0
    except (ChildError, EmbeddedError) as error:
        _say(f"\n{error}\n")
        return 1
    finally:
        _end(run)


def _end(run: Run) -> None:
    """Stops in order; a second Ctrl+C kills."""
    try:
        _say("Stopping ... (Ctrl+C again kills)")
        run.stop()
    except StopRequestedError:
        run.kill()
    _say("Stopped.")


def _listen_for_stop() -> None:
    """Turns Ctrl+C, SIGTERM and a closed terminal into StopRequestedError."""

    def request_stop(number: int, frame: FrameType | None) -> None:
        raise StopRequestedError

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup means it
            signal.signal(number, request_stop)


def _is_ready(url: str) -> bool:
    with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(f"{url}/readyz", timeout=3) as answer:  # noqa: S310 - our own address
        return bool(answer.status == 200)
    return False


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
