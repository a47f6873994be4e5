"""One run: the servers, the filled database, web, worker and beat; and the order in which they end."""

from __future__ import annotations

import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from omnia.child import Child, ChildError, spawn
from omnia.embedded.running import QUICK_START, secret_key
from omnia.embedded.servers import Servers
from omnia.quickstart import occupancy
from omnia.quickstart.address import Address
from omnia.quickstart.credentials import Credentials

ROOT = Path(__file__).resolve().parent.parent.parent
CREDENTIALS = "quickstart.json"

Command = Sequence[str | Path]


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
