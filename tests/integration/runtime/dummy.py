"""A run whose programs only pretend, in a process of its own.

`python -m tests.integration.runtime.dummy FOLDER PORT`; what the environment says of ports counts too.

As programs say what happens to them in FOLDER/events; a file FOLDER/<name>.py replaces what one does.
"""

from __future__ import annotations

import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from omnia.quickstart.address import Addresses
from omnia.quickstart.run import Plan, Program
from omnia.quickstart.supervise import supervise

PROGRAM = """
import os, pathlib, signal, sys
folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
def stop(*_):
    with (folder / "events").open("a") as file: file.write(name + "\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
(folder / (name + ".pid")).write_text(str(os.getpid()))
script = folder / (name + ".py")
if script.exists(): exec(script.read_text())
port = {"web": "PORT", "mcp": "OMNIA_MCP_PORT"}.get(name)
if port:
    from tests.integration.runtime.dummy import serve
    serve(int(os.environ[port]))
while True: signal.pause()
"""


class Ready(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()


def serve(port: int) -> None:
    HTTPServer(("127.0.0.1", port), Ready).serve_forever()


def main(folder: Path, port: int) -> int:
    def program(name: str) -> Program:
        return Program([sys.executable, "-c", PROGRAM, folder, name])

    programs = {name: program(name) for name in ("web", "mcp", "beat", "worker")}
    return supervise(folder, Addresses.from_env({**os.environ, "PORT": str(port)}), plan=Plan(["/bin/true"], programs))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
