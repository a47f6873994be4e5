"""The fake API server's HTTP side: routes, watches, tokens it refuses, and faults that a test asks for."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.cluster.fake import FakeCluster, Refusal

BOOKMARK_SECONDS = 0.2
_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any

    @property
    def watches(self) -> bool:
        return self.query.get("watch", "").lower() == "true"


Fault = Callable[["_Handler"], bool]
"""Answers in place of the server, or returns False and lets it go on."""


@dataclass
class FakeServer:
    """`faults` meet the next requests that match, once each; with `bearer` set every other token is refused."""

    cluster: FakeCluster = field(default_factory=FakeCluster)
    url: str = ""
    bearer: str | None = None
    asked: list[Asked] = field(default_factory=list)
    faults: list[tuple[Callable[[Asked], bool], Fault]] = field(default_factory=list)
    stopping: bool = False

    def fault(self, fault: Fault, *, when: Callable[[Asked], bool] = lambda _: True) -> None:
        self.faults.append((when, fault))


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is nothing to report."""


@contextmanager
def fake_server() -> Iterator[FakeServer]:
    state = FakeServer()
    handler = type("Handler", (_Handler,), {"state": state})
    server = _Server(("127.0.0.1", 0), handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield state
    finally:
        state.stopping = True
        state.cluster.end_watches()
        server.shutdown()
        server.server_close()


def answer(code: int, reason: str = "Injected") -> Fault:
    def fault(handler: _Handler) -> bool:
        handler.reply(code, Refusal(code, reason).status)
        return True

    return fault


def hang(seconds: float) -> Fault:
    def fault(_handler: _Handler) -> bool:
        time.sleep(seconds)
        return False

    return fault


def reset(handler: _Handler) -> bool:
    """Hangs up without an answer."""
    handler.close_connection = True
    return True


class _Handler(BaseHTTPRequestHandler):
    state: FakeServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_PATCH(self) -> None:
        self._serve("PATCH")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def reply(self, code: int, document: Any) -> None:
        data = json.dumps(document).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _serve(self, method: str) -> None:
        url = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = Asked(method, url.path, dict(parse_qsl(url.query)), dict(self.headers), json.loads(raw or b"null"))
        self.state.asked.append(asked)
        for number, (when, fault) in enumerate(self.state.faults):
            if when(asked):
                del self.state.faults[number]
                if fault(self):
                    return
                break
        try:
            self._admit()
            self._route(asked)
        except Refusal as refusal:
            self.reply(refusal.code, refusal.status)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _admit(self) -> None:
        shown = self.headers.get("Authorization", "").split(" ")[-1]
        if self.state.bearer is not None and shown != self.state.bearer:
            raise Refusal(401, "Unauthorized", "Unauthorized")

    def _route(self, asked: Asked) -> None:
        cluster = self.state.cluster
        if asked.path == _REVIEWS:
            return self.reply(201, cluster.review(asked.body["spec"]))
        plural, name, subresource = (*asked.path.split("/")[4:], "", "")[:3]
        manager = asked.query.get("fieldManager", "kubectl")
        match asked.method:
            case "GET" if asked.watches:
                return self._watch(plural, int(asked.query["resourceVersion"]), float(asked.query["timeoutSeconds"]))
            case "GET" if name:
                return self.reply(200, cluster.get(plural, name))
            case "GET":
                limit, start = int(asked.query.get("limit", 0)), int(asked.query.get("continue", 0))
                return self.reply(200, cluster.list(plural, limit=limit, start=start))
            case "POST":
                return self.reply(201, cluster.create(plural, asked.body, manager=manager))
            case "PATCH":
                made = cluster.patch(plural, name, asked.body, manager=manager, status=subresource == "status")
                return self.reply(200, made)
        return self.reply(200, cluster.delete(plural, name, (asked.body or {}).get("preconditions", {})))

    def _watch(self, plural: str, version: int, seconds: float) -> None:
        cluster, ends = self.state.cluster, time.monotonic() + seconds
        epoch = cluster.epoch
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with cluster.changed:
            while time.monotonic() < ends and epoch == cluster.epoch and not self.state.stopping:
                try:
                    events = list(cluster.after(plural, version))
                except Refusal as refusal:
                    self._line("ERROR", refusal.status)
                    break
                for kind, document in events:
                    self._line(kind, document)
                version = max(version, cluster.version)
                if not events:
                    self._line("BOOKMARK", {"metadata": {"resourceVersion": str(version)}})
                cluster.changed.wait(min(BOOKMARK_SECONDS, max(0.0, ends - time.monotonic())))
        self.wfile.write(b"0\r\n\r\n")

    def _line(self, kind: str, document: Any) -> None:
        data = json.dumps({"type": kind, "object": document}).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()
