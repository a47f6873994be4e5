"""`python -m omnia.quickstart run | stop | clean`: what the Makefile's targets of these names do."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from omnia.child import ChildError
from omnia.embedded.wheels import EmbeddedError
from omnia.quickstart import occupancy
from omnia.quickstart.address import AddressError
from omnia.quickstart.supervise import FOLDER
from omnia.quickstart.supervise import main as run


def stop(folder: Path = FOLDER) -> int:
    """Asks the run of the folder to end, and waits until it has."""
    holder = occupancy.holder(folder)
    if holder is None:
        print("Omnia Memory does not run in this folder.")
        return 0
    os.kill(holder.pid, signal.SIGTERM)
    if not occupancy.await_end([holder], seconds=60):
        print(f"It has not ended within a minute; kill it with: kill -9 {holder.pid}", file=sys.stderr)
        return 1
    print("Stopped.")
    return 0


def clean(folder: Path = FOLDER) -> int:
    """Deletes the data and the logs of the folder. Raises FolderTakenError when they are in use."""
    if folder.exists():
        with occupancy.occupied(folder, url=""):
            occupancy.end_leftovers(folder)
            shutil.rmtree(folder)
    return 0


TASKS: dict[str, Callable[[], int]] = {"run": run, "stop": stop, "clean": clean}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in TASKS:
        print(f"usage: python -m omnia.quickstart {' | '.join(TASKS)}", file=sys.stderr)
        return 64
    try:
        return TASKS[arguments[0]]()
    except (AddressError, ChildError, EmbeddedError, occupancy.FolderTakenError) as error:
        print(f"\n{error}", file=sys.stderr)
    except PermissionError as error:
        print(f"\n{error.filename} belongs to another user. Run as that user, or delete {FOLDER}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
