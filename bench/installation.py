"""A whole installation of our own: PostgreSQL, Redis, migrations, a token, and the web server as production runs it.

It lives in a temporary folder and is removed at the end. This process uses the same database through
Django for what has no HTTP route (making workspaces and the token) and for nothing that is measured.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import psycopg

from bench.client import Client
from bench.cost import Meter
from bench.processes import resident_megabytes, tree, usage
from omnia.child import spawn
from omnia.embedded.servers import Servers

ROOT = Path(__file__).resolve().parent.parent
_SERVER = ("granian", "--interface", "wsgi", "omnia.wsgi:application", "--workers", "1", "--blocking-threads", "4")
_NAME = "bench web"
_SECONDS_TO_START = 60


class Web:
    """One running web server: its address, and the meter of what it costs."""

    def __init__(self, port: int, token: str, root: int, database_url: str) -> None:
        self._port = port
        self._token = token
        self._root = root
        self._database = psycopg.connect(database_url, autocommit=True)

    def client(self) -> Client:
        """A new connection, with the token of a platform admin."""
        return Client(self._port, token=self._token)

    def meter(self) -> Meter:
        """Measures the server's processes, and the database backends that serve it."""
        return Meter(program=lambda: usage(tree(self._root)), database=lambda: usage(self._backends()))

    def megabytes(self) -> float:
        """Memory of the largest process: the one that serves."""
        return max(resident_megabytes(pid) for pid in tree(self._root))

    def close(self) -> None:
        self._database.close()

    def _backends(self) -> list[int]:
        rows = self._database.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = %s", [_NAME], prepare=True
        )
        return [pid for (pid,) in rows]


class Installation:
    """The servers and the database, migrated. Make it with `installed`."""

    def __init__(self, servers: Servers, token: str) -> None:
        self._servers = servers
        self._token = token
        self.database_url = servers.database_url

    def workspaces(self, names: Sequence[str]) -> dict[str, UUID]:
        """Makes one workspace a name; their uids."""
        from omnia.core.actor import Actor
        from policies.services.workspaces import create_workspace

        actor, now = Actor(name="system:bench"), datetime.now(UTC)
        return {name: create_workspace(_workspace(name), actor=actor, now=now).uid for name in names}

    @contextmanager
    def web(self, *, provider: str) -> Iterator[Web]:
        """The web server with this embedding provider, from ready to stopped."""
        port = _free_port()
        environment = os.environ | {"OMNIA_EMBEDDING_PROVIDER": provider, "PGAPPNAME": _NAME}
        command = [Path(sys.executable).parent / _SERVER[0], *_SERVER[1:], "--host", "127.0.0.1", "--port", str(port)]
        log = self._servers.folder / f"logs/web-{provider}.log"
        child = spawn("web", command, log=log, env=environment, cwd=ROOT)
        web = Web(port, self._token, child.process.pid, self.database_url)
        try:
            child.await_ready(lambda: _answers(port), seconds=_SECONDS_TO_START)
            yield web
        finally:
            web.close()
            child.stop(seconds=10)


@contextmanager
def installed() -> Iterator[Installation]:
    """An installation that is gone afterwards. One a process: Django reads its settings once."""
    folder = Path(tempfile.mkdtemp(prefix="omnia-bench-"))
    servers = Servers(folder)
    try:
        servers.start_redis()
        servers.start_postgres()
        yield Installation(servers, _prepare(servers))
    finally:
        servers.stop()
        shutil.rmtree(folder)


def _prepare(servers: Servers) -> str:
    """Settles this process's environment, migrates, and answers a token that may do everything."""
    os.environ.update(
        DATABASE_URL=servers.database_url,
        REDIS_URL=servers.redis_url,
        OMNIA_SECRET_KEY=secrets.token_urlsafe(),
        OMNIA_ENTERPRISE="1",
        DJANGO_SETTINGS_MODULE="omnia.settings",
    )
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from omnia.api.principal import Role
    from omnia.api.tokens import NewToken, create_token
    from omnia.core.actor import Actor

    new = NewToken("bench", Role.PLATFORM_ADMIN, workspaces=None)
    return create_token(new, actor=Actor(name="system:bench"), now=datetime.now(UTC)).secret


def _workspace(name: str) -> dict[str, object]:
    return {"apiVersion": "omnia.altairalabs.ai/v1alpha1", "kind": "Workspace", "metadata": {"name": name}, "spec": {}}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        return Client(port, token="").get("/readyz").status == 200
    except OSError:
        return False
