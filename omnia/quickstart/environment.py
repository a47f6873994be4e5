"""The checkout's `.venv`: made once, and brought up to date only when a requirements file changed.

Runs under the operator's own Python before anything is installed, so it knows the standard library only.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
NO_ENSUREPIP = (
    f"This Python {VERSION} cannot make virtual environments: its ensurepip module is missing.\n"
    f"On Debian and Ubuntu: sudo apt-get install python{VERSION}-venv\n"
    "Elsewhere use a complete Python: PYTHON=/path/to/python3 make run"
)


def main(names: Sequence[str]) -> int:
    """Makes `.venv` hold what the requirements files `names` pin; 0 when it does. Safe to run twice at once."""
    files = [ROOT / name for name in names]
    with files[0].open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _bring_up_to_date(ROOT / ".venv", files)


def _bring_up_to_date(venv: Path, files: Sequence[Path]) -> int:
    python, stamp = venv / "bin/python", venv / "installed.json"
    if not _runs(python):
        if find_spec("ensurepip") is None:
            return _fail(NO_ENSUREPIP)
        _say(f"Making .venv with Python {VERSION} ...")
        if subprocess.run([sys.executable, "-m", "venv", "--clear", venv], stdout=sys.stderr, check=False).returncode:
            return _fail(f"Could not make {venv}; what went wrong is above.")
    installed, wanted = _installed(stamp), {file.name: _digest(file) for file in files}
    if wanted.items() <= installed.items():
        return 0
    _say(f"Installing {', '.join(wanted)} into .venv; this takes a minute or two, once ...")
    started = time.monotonic()
    options = [part for file in files for part in ("-r", str(file))]
    # The files pin all there is, so nothing is left to resolve; modules are compiled as they are first used.
    quick = ["--no-deps", "--no-compile", "--quiet", "--no-input", "--disable-pip-version-check"]
    install = [str(python), "-m", "pip", "install", *quick, *options]
    if subprocess.run(install, stdout=sys.stderr, check=False).returncode:
        return _fail(
            "The requirements could not be installed; pip says why above. Run the same command again to retry."
        )
    stamp.write_text(json.dumps(installed | wanted), encoding="utf-8")
    _say(f"Installed in {time.monotonic() - started:.0f} s.")
    return 0


def _runs(python: Path) -> bool:
    """Whether a usable environment is there; one left behind by a removed or older Python is not."""
    try:
        question = "import pip, sys; sys.exit(sys.version_info < (3, 11))"
        return subprocess.run([python, "-c", question], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _installed(stamp: Path) -> dict[str, str]:
    try:
        return dict(json.loads(stamp.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _fail(text: str) -> int:
    print(f"\n{text}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
