"""One run: the servers, the filled database, web, mcp, worker and beat; and the order in which they end."""

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
from omnia.quickstart.address import Address, Addresses
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
    """What to run: a step that must end well first, then the programs, stopped in this order."""

    seed: Command
    programs: Mapping[str, Program]


class Run:
    """What one `make run` has started."""

    def __init__(self, folder: Path, addresses: Addresses, plan: Plan) -> None:
        self.folder = folder
        self.addresses = addresses
        self.plan = plan
        self.servers = Servers(folder)
        self.started: dict[str, Child] = {}
        self.env = _environment(self.servers, addresses)

    def start(self) -> Credentials:
        """Everything, until requests are served: what serves them has the machine to itself until it does.

        Raises ChildError or EmbeddedError.
        """
        if not os.environ.get("REDIS_URL"):
            self.servers.start_redis()
        if not os.environ.get("DATABASE_URL"):
            self.servers.start_postgres()
        self._fill()
        serving = {"web": self.addresses.web, "mcp": self.addresses.mcp}
        for name in serving:
            self._start(name, self.plan.programs[name].command)
        for name, address in serving.items():
            self._await_ready(name, address)
        for name in [name for name in self.plan.programs if name not in serving]:
            self._start(name, self.plan.programs[name].command)
        return Credentials.read(self.folder / CREDENTIALS)

    def watch(self) -> NoReturn:
        """Raises ChildError as soon as a child ends."""
        while True:
            self._check()
            time.sleep(0.2)

    def stop(self) -> None:
        """What serves requests first, so that nothing new comes in, the database last."""
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
        urls = (self.addresses.web.url, self.addresses.mcp_url)
        child = self._start("seed", [*self.plan.seed, self.folder / CREDENTIALS, *urls])
        child.process.wait()
        if child.process.returncode:
            raise child.failure()
        del self.started["seed"]

    def _await_ready(self, name: str, address: Address, *, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not _is_ready(address.url):
            self._check()
            if time.monotonic() > deadline:
                raise ChildError(f"{address.url}/readyz is not green after {seconds:g} s; see .omnia/logs/{name}.log")
            time.sleep(0.05)

    def _check(self) -> None:
        for child in self._children():
            if child.ended:
                raise child.failure()


def _environment(servers: Servers, addresses: Addresses) -> dict[str, str]:
    """What the children see: our servers and defaults, what the operator set, and where to listen."""
    ours = {
        "DATABASE_URL": servers.database_url,
        "REDIS_URL": servers.redis_url,
        "DJANGO_SETTINGS_MODULE": "omnia.settings",
        "OMNIA_SECRET_KEY": secret_key(servers.folder),
        **QUICK_START,
    }
    fixed = {
        "OMNIA_HOST": addresses.web.host,
        "PORT": str(addresses.web.port),
        "OMNIA_MCP_PORT": str(addresses.mcp.port),
        "OMNIA_BEAT_SCHEDULE": str(servers.folder / "beat-schedule"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }
    return ours | {name: value for name, value in os.environ.items() if value} | fixed


def _is_ready(url: str) -> bool:
    with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(f"{url}/readyz", timeout=3) as answer:  # noqa: S310 - our own address
        return bool(answer.status == 200)
    return False
