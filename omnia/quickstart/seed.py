"""The step of `make run` that fills the database: migrations first, then the demo.

`python -m omnia.quickstart.seed FILE URL`: FILE keeps the passwords and tokens, URL is where we answer.
"""

from __future__ import annotations

import sys
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import OperationalError

from omnia.quickstart.credentials import Credentials


def main(file: Path, url: str) -> int:
    try:
        django.setup()
        call_command("migrate", verbosity=0)
    except (CommandError, ImproperlyConfigured) as error:
        print(error, file=sys.stderr)
        return 1
    except OperationalError as error:
        print(f"The database at DATABASE_URL cannot be used: {error}", file=sys.stderr)
        return 1
    from omnia.quickstart.demo import ensure_demo

    ensure_demo(Credentials.read(file)).write(file, url=url)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
