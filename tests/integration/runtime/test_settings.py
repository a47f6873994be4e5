"""Settings say what is missing, and commands that need nothing run without anything."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HALF = {"DATABASE_URL": "postgresql://me@127.0.0.1:1/x", "REDIS_URL": "redis://x", "OMNIA_SECRET_KEY": "x"}
"""Complete, but for servers that answer."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code without the `.omnia` of the developer's own run."""
    checkout = tmp_path_factory.mktemp("checkout")
    shutil.copy(ROOT / "manage.py", checkout)
    shutil.copytree(ROOT / "omnia", checkout / "omnia", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("policies", "memories", "gate", "consolidation", "templates"):
        (checkout / name).symlink_to(ROOT / name)
    return checkout


def _manage(checkout: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    bare = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=checkout, env=bare | env, capture_output=True, text=True, check=False)


def test_without_anything_migrations_can_be_compared(checkout: Path) -> None:
    done = _manage(checkout, "makemigrations", "--check", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "No changes detected" in done.stdout


def test_without_a_database_the_fix_is_named(checkout: Path) -> None:
    done = _manage(checkout, "migrate", "--skip-checks")
    assert done.returncode != 0
    assert "Set DATABASE_URL=postgresql://USER:PASSWORD@HOST/NAME" in done.stderr
    assert "make run" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in _manage(checkout, "migrate", "--skip-checks", "--traceback").stderr


@pytest.mark.parametrize(
    ("env", "fix"),
    [
        ({"DATABASE_URL": "postgresql://x"}, "REDIS_URL is not set"),
        ({"DATABASE_URL": "postgresql://x", "REDIS_URL": "redis://x"}, "OMNIA_SECRET_KEY is not set"),
        ({**HALF, "DATABASE_URL": "mysql://me:hidden@host/name"}, "DATABASE_URL is no PostgreSQL address"),
        ({**HALF, "OMNIA_RRF_K": "many"}, "OMNIA_RRF_K='many' is not a number"),
        ({**HALF, "OMNIA_EMBEDDING_PROVIDER": "openai"}, "OMNIA_EMBEDDING_URL must be"),
    ],
)
def test_half_an_installation_is_refused_in_one_line_with_the_fix(
    checkout: Path, env: dict[str, str], fix: str
) -> None:
    done = _manage(checkout, "check", **env)
    assert done.returncode != 0
    assert done.stderr.startswith(fix)
    assert done.stderr.count("\n") == 1
    assert "hidden" not in done.stderr


def test_a_database_that_does_not_answer_is_told_without_a_trace(checkout: Path) -> None:
    done = _manage(checkout, "migrate", "--skip-checks", **HALF)
    assert done.returncode != 0
    assert "Connection refused" in done.stderr
    assert "Traceback" not in done.stderr
