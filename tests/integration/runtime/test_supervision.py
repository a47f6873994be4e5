"""One process starts, watches and stops the others (dummies here: what they do is not the point)."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from omnia.quickstart.__main__ import clean, stop
from omnia.quickstart.occupancy import FolderTakenError, started_at

ROOT = Path(__file__).resolve().parents[3]
Start = Callable[[], subprocess.Popen[str]]


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short enough to hold sockets, so that a killed run leaves nothing elsewhere."""
    root = Path(tempfile.mkdtemp(prefix="omnia-"))
    folder = root / "a b"
    folder.mkdir()
    yield folder
    shutil.rmtree(root)


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.fixture
def start(folder: Path, port: int) -> Iterator[Start]:
    """Starts a run; the servers are others', so that none is started here."""
    runs: list[subprocess.Popen[str]] = []
    env = {name: value for name, value in os.environ.items() if name != "MAKELEVEL"}
    env |= {"DATABASE_URL": "postgresql://elsewhere", "REDIS_URL": "redis://elsewhere"}

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.integration.runtime.dummy", str(folder), str(port)]
        run = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        runs.append(run)
        return run

    yield start
    for run in runs:
        run.kill()
        run.communicate()
    _await_end(_pids(folder))


def _await_all(run: subprocess.Popen[str], folder: Path) -> dict[str, int]:
    """The ids of the four programs, once the panel is printed and each is up."""
    assert run.stdout is not None
    assert run.stderr is not None
    if not any(line.startswith("All of this is in") for line in run.stdout):
        pytest.fail(run.stderr.read())
    while len(pids := _pids(folder)) < 4:
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.02)
    return pids


def _pids(folder: Path) -> dict[str, int]:
    return {file.stem: int(text) for file in folder.glob("*.pid") if (text := file.read_text())}


def _await_end(pids: dict[str, int]) -> None:
    deadline = time.monotonic() + 20
    while left := {name for name, pid in pids.items() if started_at(pid)}:
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.02)


def test_a_stopped_run_leaves_nothing(folder: Path, start: Start) -> None:
    run = start()
    pids = _await_all(run, folder)
    assert pids.keys() == {"web", "mcp", "beat", "worker"}
    run.terminate()
    run.terminate()  # make passes on what the whole group got: that is one request
    _, told = run.communicate(timeout=20)
    assert run.returncode == 0
    assert told.endswith("Stopped.\n")
    assert not any(started_at(pid) for pid in pids.values())
    assert (folder / "events").read_text().split() == ["web", "mcp", "beat", "worker"]


def test_a_crash_is_told_and_ends_the_run(folder: Path, start: Start) -> None:
    (folder / "worker.py").write_text("print('the disk is full'); sys.exit(3)")
    run = start()
    _, told = run.communicate(timeout=20)
    assert run.returncode == 1
    assert "worker ended with exit code 3" in told
    assert "the disk is full" in told
    _await_end(_pids(folder))


def test_a_killed_child_ends_the_run(folder: Path, start: Start) -> None:
    run = start()
    os.kill(_await_all(run, folder)["beat"], signal.SIGKILL)
    _, told = run.communicate(timeout=20)
    assert run.returncode == 1
    assert "beat was killed by SIGKILL" in told
    _await_end(_pids(folder))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of their parent's death")
def test_children_end_with_a_killed_run_and_the_next_one_starts(folder: Path, start: Start) -> None:
    run = start()
    pids = _await_all(run, folder)
    run.kill()
    _await_end(pids)
    for file in folder.glob("*.pid"):
        file.unlink()
    again = _await_all(start(), folder)
    assert not set(pids.values()) & set(again.values())


def test_a_second_request_to_stop_kills(folder: Path, start: Start) -> None:
    (folder / "web.py").write_text("signal.signal(signal.SIGTERM, lambda *_: print('no', flush=True))")
    run = start()
    pids = _await_all(run, folder)
    run.send_signal(signal.SIGINT)
    while "no" not in (folder / "logs/web.log").read_text():
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=8)  # web alone would have got ten seconds
    assert run.returncode == 0
    _await_end(pids)


def test_a_folder_in_use_is_left_alone(folder: Path, port: int, start: Start) -> None:
    run = start()
    pids = _await_all(run, folder)
    second = start()
    _, told = second.communicate(timeout=20)
    assert second.returncode == 1
    assert f"http://127.0.0.1:{port}" in told
    with pytest.raises(FolderTakenError):
        clean(folder)
    assert run.poll() is None
    assert all(started_at(pid) for pid in pids.values())


def test_make_stop_ends_it_and_make_clean_removes_it(
    folder: Path, start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    run = start()
    _await_all(run, folder)
    assert stop(folder) == 0
    assert run.wait(5) == 0
    assert stop(folder) == 0
    assert capsys.readouterr().out.splitlines() == ["Stopped.", "Omnia Memory does not run in this folder."]
    assert clean(folder) == 0
    assert not folder.exists()


def test_a_run_waits_for_both_servers(folder: Path, start: Start) -> None:
    (folder / "mcp.py").write_text("print('no disk'); sys.exit(4)")
    _, told = start().communicate(timeout=20)
    assert "mcp ended with exit code 4" in told
    assert not (folder / "worker.pid").exists()


def test_a_taken_port_is_found_before_anything_starts(folder: Path, port: int, start: Start) -> None:
    with socket.create_server(("127.0.0.1", port)):
        run = start()
        _, told = run.communicate(timeout=20)
    assert run.returncode == 1
    assert f"PORT={port + 1} make run" in told
    assert not (folder / "logs").exists()
