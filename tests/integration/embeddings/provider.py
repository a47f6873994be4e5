"""An embedding provider on a loopback port, which misbehaves as a test asks it to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

DIMENSIONS = 8
Behaviour = Callable[["Call"], None]


def vector_of(text: str) -> list[float]:
    """A vector that says which text it belongs to: its length in the first place."""
    return [float(len(text)), *[1.0] * (DIMENSIONS - 1)]


class Call(BaseHTTPRequestHandler):
    """One request, with the few ways to answer it that the tests need."""

    server: Provider
    payload: Any = None
    raw: bytes = b""

    def do_POST(self) -> None:
        self.raw = self.rfile.read(int(self.headers["content-length"]))
        self.payload = orjson.loads(self.raw)
        self.server.calls.append(self)
        try:
            self.server.behaviour(self)
        except OSError:
            self.server.left.set()

    @property
    def texts(self) -> list[str]:
        return self.payload["input"]  # type: ignore[no-any-return]

    def send(self, body: bytes, *, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_json(self, answer: object, **more: Any) -> None:
        self.send(orjson.dumps(answer), **more)

    def drip(self, data: bytes) -> None:
        """Sends `data` a byte at a time, each well within any timeout for a single read."""
        for place in range(len(data)):
            self.wfile.write(data[place : place + 1])
            self.wfile.flush()
            if self.server.stopped.wait(0.05):
                return

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


class Provider(ThreadingHTTPServer):
    """`behaviour` answers the next calls; `calls` keeps those that came, `left` that a client hung up."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Call)
        self.behaviour: Behaviour = openai
        self.calls: list[Call] = []
        self.stopped = threading.Event()
        self.left = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


def openai(call: Call) -> None:
    """What a well provider says."""
    call.send_json({"data": [{"index": i, "embedding": vector_of(text)} for i, text in enumerate(call.texts)]})


def ollama(call: Call) -> None:
    call.send_json({"embeddings": [vector_of(text) for text in call.texts]})


@contextmanager
def provider() -> Iterator[Provider]:
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            server.shutdown()
            thread.join()
