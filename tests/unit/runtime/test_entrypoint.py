"""The container's entry point starts the right program in its own place, and refuses anything else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ENTRYPOINT = ROOT / "deploy/entrypoint"


def _start(tmp_path: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs the entry point among programs that only say how they were called, and by which process."""
    for name in ("granian", "celery", "python"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho "{name} $* pid=$$ parent=$PPID"\n')
        program.chmod(0o755)
    return subprocess.run(
        [ENTRYPOINT, *arguments],
        env={"PATH": f"{tmp_path}:{os.defpath}", "DATABASE_URL": "postgresql://x", **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("argument", "called"),
    [
        ("web", "granian omnia.wsgi:application --interface wsgi --no-ws --host 0.0.0.0 --port 8000 --workers 1 "),
        ("mcp", "granian omnia.asgi:application --interface asgi --no-ws --host 0.0.0.0 --port 8001 --workers 1"),
        ("worker", "celery --app omnia.celery worker --loglevel INFO --concurrency 1 "),
        ("beat", "celery --app omnia.celery beat --loglevel INFO --pidfile= --schedule /tmp/omnia-beat-schedule "),
        ("migrate", "python manage.py migrate --no-input "),
        ("sync", "python manage.py sync_policies "),
    ],
)
def test_each_argument_becomes_its_program(tmp_path: Path, argument: str, called: str) -> None:
    done = _start(tmp_path, argument)
    assert done.returncode == 0
    assert done.stdout.startswith(called)
    assert f"parent={os.getpid()}" in done.stdout  # it takes the shell's place, so signals reach it


def test_the_environment_tunes_it(tmp_path: Path) -> None:
    tuned = _start(tmp_path, "web", OMNIA_HOST="127.0.0.1", PORT="9", OMNIA_WEB_WORKERS="2", OMNIA_WEB_THREADS="3")
    assert "--host 127.0.0.1 --port 9 --workers 2 --blocking-threads 3" in tuned.stdout
    tuned = _start(tmp_path, "mcp", OMNIA_HOST="127.0.0.1", OMNIA_MCP_PORT="9", OMNIA_MCP_WORKERS="2", PORT="8")
    assert "--host 127.0.0.1 --port 9 --workers 2" in tuned.stdout


@pytest.mark.parametrize("arguments", [(), ("shell",), ("web;ls",)])
def test_anything_else_shows_the_usage(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = _start(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (64, "")
    assert "manage.py sync_policies" in done.stderr


def test_without_a_database_it_says_so(tmp_path: Path) -> None:
    done = _start(tmp_path, "web", DATABASE_URL="")
    assert done.returncode != 0
    assert "DATABASE_URL" in done.stderr
    assert "set it to" in done.stderr
