"""`make run` itself: one run per folder, from the first check to the last child's end."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType

from omnia.child import ChildError, end_with_parent
from omnia.embedded.wheels import EmbeddedError
from omnia.quickstart import occupancy
from omnia.quickstart.address import Addresses
from omnia.quickstart.panel import render, wants_colour
from omnia.quickstart.run import ROOT, Command, Plan, Program, Run

FOLDER = ROOT / ".omnia"


class StopRequestedError(Exception):
    """Somebody pressed Ctrl+C or asked us to end."""


def _entrypoint(name: str) -> Command:
    return ["/bin/sh", "deploy/entrypoint", name]


PLAN = Plan(
    seed=[sys.executable, "-m", "omnia.quickstart.seed"],
    programs={
        "web": Program(_entrypoint("web")),
        "mcp": Program(_entrypoint("mcp")),
        "beat": Program(_entrypoint("beat"), seconds_to_stop=5),
        "worker": Program(_entrypoint("worker"), seconds_to_stop=20),
    },
)


def main() -> int:
    """`make run`: everything the checkout holds, in `.omnia/`."""
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    if "MAKELEVEL" in os.environ:
        end_with_parent(signal.SIGTERM)
    return supervise(FOLDER, Addresses.from_env(os.environ), plan=PLAN)


def supervise(folder: Path, addresses: Addresses, *, plan: Plan) -> int:
    """Runs the plan until asked to stop (0), or until a child ends by itself (1).

    Raises AddressError or FolderTakenError before anything starts.
    """
    with occupancy.occupied(folder, url=addresses.web.url):
        _listen_for_stop()
        try:
            occupancy.end_leftovers(folder)
            return _serve(Run(folder, addresses.checked(), plan))
        except StopRequestedError:
            return 0


def _serve(run: Run) -> int:
    try:
        _say("Starting; the first time takes a little longer ...")
        credentials = run.start()
        print(render(credentials, addresses=run.addresses, colour=wants_colour(sys.stdout, os.environ)), flush=True)
        run.watch()
    except (ChildError, EmbeddedError) as error:
        _say(f"\n{error}\n")
        return 1
    finally:
        _end(run)


def _end(run: Run) -> None:
    """Stops in order; a second Ctrl+C kills."""
    try:
        _say("Stopping ... (Ctrl+C again kills)")
        run.stop()
    except StopRequestedError:
        run.kill()
    _say("Stopped.")


def _listen_for_stop() -> None:
    """Turns Ctrl+C, SIGTERM and a closed terminal into StopRequestedError.

    Only Ctrl+C counts twice: make passes on the SIGTERM that we may have got already.
    """

    def request_stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        raise StopRequestedError

    signal.signal(signal.SIGINT, request_stop)
    signal.signal(signal.SIGTERM, request_stop)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup means it
        signal.signal(signal.SIGHUP, request_stop)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
