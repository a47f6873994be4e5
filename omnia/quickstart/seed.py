"""The step of `make run` that fills the database: migrations first, then the demo.

`python -m omnia.quickstart.seed FILE URL MCP_URL`: FILE keeps the passwords and tokens, the URLs are where we answer;
what an MCP client needs of it is written beside it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import OperationalError

from omnia.embedded.running import replace_private
from omnia.quickstart.credentials import Credentials
from omnia.quickstart.mcp_config import MCP_CONFIG, mcp_config


def main(file: Path, url: str, mcp_url: str) -> int:
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

    credentials = ensure_demo(Credentials.read(file))
    credentials.write(file, url=url, mcp_url=mcp_url)
    replace_private(file.with_name(MCP_CONFIG), mcp_config(credentials.token("owner") or "", url=mcp_url) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
