"""Processes are told apart by id and start; a folder has one run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from omnia.quickstart.occupancy import (
    FolderTakenError,
    Process,
    end_leftovers,
    holder,
    occupied,
    started_at,
)


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own that ends on SIGTERM."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as process:
        yield process
        process.kill()


def test_a_process_is_its_id_and_its_start(stranger: subprocess.Popen[bytes]) -> None:
    started = started_at(stranger.pid)
    assert started
    assert started == started_at(stranger.pid)
    assert Process(stranger.pid, started).alive
    assert not Process(stranger.pid, "another start").alive


def test_an_ended_process_is_not_alive(stranger: subprocess.Popen[bytes]) -> None:
    process = Process(stranger.pid, started_at(stranger.pid))
    stranger.kill()
    os.waitid(os.P_PID, stranger.pid, os.WEXITED | os.WNOWAIT)
    assert not process.alive  # a zombie
    stranger.wait()
    assert not process.alive
    assert not Process(stranger.pid, "").alive


def test_leftovers_are_ended(stranger: subprocess.Popen[bytes], tmp_path: Path) -> None:
    (tmp_path / "children.json").write_text(json.dumps([asdict(Process(stranger.pid, started_at(stranger.pid)))]))
    end_leftovers(tmp_path)
    assert stranger.wait(5) == -signal.SIGTERM
    assert not (tmp_path / "children.json").exists()


def test_a_stranger_with_the_id_of_a_leftover_is_left_alone(stranger: subprocess.Popen[bytes], tmp_path: Path) -> None:
    (tmp_path / "children.json").write_text(json.dumps([asdict(Process(stranger.pid, "long ago"))]))
    end_leftovers(tmp_path)
    assert stranger.poll() is None


@pytest.mark.parametrize("text", ["", "{", "3", '[{"pid": "x"}]', '[{"id": 1}]'])
def test_a_damaged_note_names_nobody(tmp_path: Path, text: str) -> None:
    (tmp_path / "children.json").write_text(text)
    end_leftovers(tmp_path)


def test_a_folder_has_one_run(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    with occupied(tmp_path, url="http://127.0.0.1:8000"):
        assert holder(tmp_path) == Process(os.getpid(), started_at(os.getpid()))
        with (
            pytest.raises(FolderTakenError, match=r"http://127\.0\.0\.1:8000\n.*make stop"),
            occupied(tmp_path, url=""),
        ):
            pytest.fail("entered twice")
    with occupied(tmp_path, url="http://127.0.0.1:8001"):
        pass
