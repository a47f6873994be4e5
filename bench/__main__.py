"""`make bench`: every benchmark, each in a process and an installation of its own, one after the other.

python -m bench [--rows N] [--rounds N]
"""

from __future__ import annotations

import argparse
import subprocess
import sys


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rows", default="100000", help="rows the floors are measured on (100000)")
    parser.add_argument("--rounds", default="9", help="rounds a comparison with a floor (9)")
    arguments = parser.parse_args()
    for name, options in (("locomo", ()), ("floors", ("--rows", arguments.rows, "--rounds", arguments.rounds))):
        subprocess.run([sys.executable, "-m", f"bench.{name}", *options], check=True)  # noqa: S603 - our own programs


if __name__ == "__main__":
    main()
