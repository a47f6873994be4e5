"""Finding the embedded servers that run now, so that `manage.py` anywhere in the checkout uses them."""

from __future__ import annotations

import json
import os
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

QUICK_START = {"OMNIA_ENTERPRISE": "1", "OMNIA_EMBEDDING_PROVIDER": "local", "OMNIA_ERASURE_SCRUB": "1"}
"""What the quick start sets where the operator does not; `manage.py` beside it must see the same."""

_STATE, _SECRET_KEY = "servers.json", "secret-key"


@dataclass(frozen=True, slots=True)
class Running:
    """Where the embedded servers of one folder answer; empty strings where none does."""

    database_url: str = ""
    redis_url: str = ""
    secret_key: str = ""


def discover(folder: Path) -> Running:
    """The servers that run in `folder` now: those its state file names, as far as they answer."""
    try:
        noted = json.loads(read_text(folder / _STATE) or "{}")
        database, redis = str(noted.get("database_url", "")), str(noted.get("redis_url", ""))
    except (ValueError, AttributeError):
        database = redis = ""
    return Running(
        database_url=database if database and answers(_database_socket(database)) else "",
        redis_url=redis if redis and answers(_redis_socket(redis)) else "",
        secret_key=read_text(folder / _SECRET_KEY),
    )


def note(folder: Path, *, database_url: str, redis_url: str) -> None:
    """Writes the state file that `discover` reads."""
    write_private(folder / _STATE, json.dumps({"database_url": database_url, "redis_url": redis_url}))


def forget(folder: Path) -> None:
    (folder / _STATE).unlink(missing_ok=True)


def secret_key(folder: Path) -> str:
    """The folder's Django secret: made once, readable by its owner only."""
    with suppress(FileExistsError):
        write_private(folder / _SECRET_KEY, secrets.token_urlsafe(64), mode=os.O_EXCL)
    return read_text(folder / _SECRET_KEY)


def write_private(path: Path, text: str, *, mode: int = os.O_TRUNC) -> None:
    """Writes a file that only its owner can read, whatever the umask; `mode` O_EXCL refuses an existing one."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | mode, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(descriptor, 0o600)
        file.write(text)


def replace_private(path: Path, text: str) -> None:
    """The same in one step: a reader finds the old or the new file, never half."""
    fresh = path.with_name(f"{path.name}.new")
    write_private(fresh, text)
    fresh.replace(path)


def read_text(path: Path) -> str:
    """A file's text; empty when it is missing or another user's."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def answers(path: Path) -> bool:
    """Whether a server listens on this unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True


def broker_url(redis_url: str) -> str:
    """Celery's spelling of a Redis URL: it says redis+socket and virtual_host for unix and db."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    return f"redis+socket://{parts.path}?virtual_host={parse_qs(parts.query).get('db', ['0'])[0]}"


def _database_socket(url: str) -> Path:
    return Path(unquote(urlsplit(url).query.removeprefix("host="))) / ".s.PGSQL.5432"


def _redis_socket(url: str) -> Path:
    return Path(unquote(urlsplit(url).path))
