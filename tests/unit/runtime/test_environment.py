"""`.venv` is made once and installed into only when a requirements file changed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from omnia.quickstart import environment


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose Python says what it was asked instead of doing it."""
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    (tmp_path / "requirements.txt").write_text("django==5\n")
    (tmp_path / "requirements-dev.txt").write_text("pytest==9\n")
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\ncase "$2" in import*) exit 0;; esac\necho "$@" >> "{tmp_path}/asked"\n')
    python.chmod(0o755)
    return tmp_path


def _asked(root: Path) -> list[str]:
    file = root / "asked"
    return file.read_text().splitlines() if file.exists() else []


def test_a_second_time_there_is_nothing_to_do(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert environment.main(["requirements.txt"]) == 0
    assert environment.main(["requirements.txt"]) == 0
    assert len(_asked(root)) == 1
    assert capfd.readouterr().out == ""  # progress is for stderr


def test_a_changed_file_is_installed_again(root: Path) -> None:
    environment.main(["requirements.txt"])
    (root / "requirements.txt").write_text("django==6\n")
    environment.main(["requirements.txt"])
    assert len(_asked(root)) == 2


def test_what_the_tests_add_does_not_reinstall_what_the_run_needs(root: Path) -> None:
    environment.main(["requirements.txt", "requirements-dev.txt"])
    environment.main(["requirements.txt"])
    assert len(_asked(root)) == 1


def test_a_failed_installation_is_tried_again(root: Path) -> None:
    python = root / ".venv/bin/python"
    good = python.read_text()
    python.write_text(good + "exit 1\n")
    assert environment.main(["requirements.txt"]) == 1
    python.write_text(good)
    assert environment.main(["requirements.txt"]) == 0
    assert len(_asked(root)) == 2


def test_a_python_without_ensurepip_says_what_to_install(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / ".venv/bin/python").unlink()
    monkeypatch.setattr(environment, "find_spec", lambda name: None)
    assert environment.main(["requirements.txt"]) == 1
    assert f"apt-get install python3.{sys.version_info.minor}-venv" in capsys.readouterr().err
