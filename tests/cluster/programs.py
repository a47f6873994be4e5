"""The programs of a real API server: those KUBEBUILDER_ASSETS holds, or built with Go, once, into the user's cache.

Standard library only, so that `python3 tests/cluster/programs.py` can begin to build before there is an environment.
Who asks while somebody else builds waits for them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

VERSION = "1.37.2"
PACKAGES = {"etcd": "go.etcd.io/etcd/server/v3", "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver"}
BUILD_SECONDS = 40 * 60
"""How long building may take in all; on two free cores it takes five minutes."""
_MODULES = Path(__file__).parent / "go"
_STAMP = "k8s.io/component-base/version"
_FLAGS = f"-s -w -X {_STAMP}.gitVersion=v{VERSION} -X {_STAMP}.gitMajor=1 -X {_STAMP}.gitMinor=37"


class NotToBeHad(Exception):
    """There is no API server to test with; the message says why."""


def folder() -> Path:
    """The folder with both programs. Builds them when Go is there. Raises NotToBeHad."""
    if given := os.environ.get("KUBEBUILDER_ASSETS"):
        return _complete(Path(given), f"KUBEBUILDER_ASSETS={given} does not hold {' and '.join(PACKAGES)}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / f"omnia-memory/kubernetes-{VERSION}"
    if not _holds_all(cache):
        _build(cache)
    return cache


def _complete(found: Path, otherwise: str) -> Path:
    if not _holds_all(found):
        raise NotToBeHad(otherwise)
    return found


def _holds_all(found: Path) -> bool:
    return all(os.access(found / name, os.X_OK) for name in PACKAGES)


def _build(cache: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise NotToBeHad("Go is not installed, and KUBEBUILDER_ASSETS names no ready programs")
    cache.mkdir(parents=True, exist_ok=True)
    ends = time.monotonic() + BUILD_SECONDS
    with (cache / "lock").open("w") as lock:
        _wait_for(lock.fileno(), ends)
        for name, package in PACKAGES.items():
            if not os.access(cache / name, os.X_OK):
                _build_one(go, name, package, cache, ends - time.monotonic())


def _wait_for(lock: int, ends: float) -> None:
    while time.monotonic() < ends:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.5)
    raise NotToBeHad("another process has been building the API server for too long")


def _build_one(go: str, name: str, package: str, cache: Path, seconds: float) -> None:
    part = cache / f"{name}.part"
    command = [go, "build", "-mod=readonly", "-trimpath", f"-ldflags={_FLAGS}", "-o", str(part), package]
    try:
        done = subprocess.run(
            command,
            cwd=_MODULES / name,
            env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": ""},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=max(1.0, seconds),
        )
    except subprocess.TimeoutExpired:
        raise NotToBeHad(f"building {name} took longer than {BUILD_SECONDS // 60} minutes in all") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise NotToBeHad(f"{name} could not be built: {last}")
    part.replace(cache / name)


if __name__ == "__main__":
    os.nice(10)
    try:
        print(folder())
    except NotToBeHad as reason:
        sys.exit(f"The tests against a real API server will be skipped: {reason}")
