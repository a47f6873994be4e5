"""One run: the servers, the filled database, web, worker and beat; watched, and stopped in order."""

from __future__ import annotations

import os
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
CREDENTIALS = "quickstart.json"

Command = Sequence[str | Path]


class StopRequestedError(Exception):
    """Somebody pressed Ctrl+C or asked us to end."""


@dataclass(frozen=True, slots=True)
class Program:
    """A process that runs as long as we do; it gets `seconds_to_stop` before it is killed."""

    command: Command
    seconds_to_stop: float = 10


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run: a step that must end well first, then the programs.

    The first program answers requests and gets the machine to itself until it does; they are stopped in
    this order too.
    """

    seed: Command
    programs: Mapping[str, Program]


def _entrypoint(name: str) -> Command:
    return ["/bin/sh", "deploy/entrypoint", name]


PLAN = Plan(
    seed=[sys.executable, "-m", "omnia.quickstart.seed"],
    programs={
        "web": Program(_entrypoint("web")),
        "beat": Program(_entrypoint("beat"), seconds_to_stop=5),
        "worker": Program(_entrypoint("worker"), seconds_to_stop=20),
    },
)


class Run:
    """What one `make run` has started."""

    def __init__(self, folder: Path, address: Address, plan: Plan) -> None:
        self.folder = folder
        self.address = address
        self.plan = plan
        self.servers = Servers(folder)
        self.started: dict[str, Child] = {}
        self.env = _environment(self.servers, address)

    def start(self) -> Credentials:
        """Everything, until requests are served. Raises ChildError or EmbeddedError."""
        if not os.environ.get("REDIS_URL"):
            self.servers.start_redis()
        if not os.environ.get("DATABASE_URL"):
            self.servers.start_postgres()
        self._fill()
        first, *others = self.plan.programs
        self._start(first, self.plan.programs[first].command)
        self._await_ready()
        for name in others:
            self._start(name, self.plan.programs[name].command)
        return Credentials.read(self.folder / CREDENTIALS)

    def watch(self) -> NoReturn:
        """Raises ChildError as soon as a child ends."""
        while True:
            self._check()
            time.sleep(0.2)

    def stop(self) -> None:
        """Web first, so that nothing new comes in, the database last."""
        patience = {"seed": 5.0} | {name: program.seconds_to_stop for name, program in self.plan.programs.items()}
        for name, seconds in patience.items():
            if child := self.started.get(name):
                child.stop(seconds=seconds)
        self.servers.stop()

    def kill(self) -> None:
        for child in self._children():
            child.kill_group()

    def _children(self) -> Iterator[Child]:
        yield from self.started.values()
        yield from (child for child in (self.servers.redis, self.servers.postgres) if child)

    def _start(self, name: str, command: Command) -> Child:
        child = spawn(name, command, log=self.folder / f"logs/{name}.log", env=self.env, cwd=ROOT)
        self.started[name] = child
        occupancy.note_children(self.folder, list(self._children()))
        return child

    def _fill(self) -> None:
        child = self._start("seed", [*self.plan.seed, self.folder / CREDENTIALS, self.address.url])
        child.process.wait()
        if child.process.returncode:
            raise child.failure()
        del self.started["seed"]

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


def main() -> int:
    """`make run`: everything the checkout holds, in `.omnia/`."""
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    if "MAKELEVEL" in os.environ:
        end_with_parent(signal.SIGTERM)
    return supervise(FOLDER, Address.from_env(os.environ), plan=PLAN)


def supervise(folder: Path, address: Address, *, plan: Plan) -> int:
    """Runs the plan until asked to stop (0), or until a child ends by itself (1).

    Raises AddressError or FolderTakenError before anything starts.
    """
    with occupancy.occupied(folder, url=address.url):
        _listen_for_stop()
        occupancy.end_leftovers(folder)
        address.check_free()
        return _serve(Run(folder, address, plan))


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

    signal.signal(signal.SIGINT, request_stop)
    signal.signal(signal.SIGTERM, request_stop)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup means it
        signal.signal(signal.SIGHUP, request_stop)


def _environment(servers: Servers, address: Address) -> dict[str, str]:
    """What the children see: our servers and defaults, what the operator set, and where to listen."""
    ours = {
        "DATABASE_URL": servers.database_url,
        "REDIS_URL": servers.redis_url,
        "DJANGO_SETTINGS_MODULE": "omnia.settings",
        "OMNIA_SECRET_KEY": secret_key(servers.folder),
        **QUICK_START,
    }
    fixed = {
        "OMNIA_HOST": address.host,
        "PORT": str(address.port),
        "OMNIA_BEAT_SCHEDULE": str(servers.folder / "beat-schedule"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }
    return ours | {name: value for name, value in os.environ.items() if value} | fixed


def _is_ready(url: str) -> bool:
    with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(f"{url}/readyz", timeout=3) as answer:  # noqa: S310 - our own address
        return bool(answer.status == 200)
    return False


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
