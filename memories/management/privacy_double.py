"""A privacy service small enough to try consent with: preferences in memory, and the events a real one posts.

It is for a first day and for tests. It keeps nothing, asks nobody who they are, and listens on loopback only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import orjson

PATH = "/api/v1/privacy/preferences/"
EMPTY: dict[str, Any] = {"optOutAll": False, "optOutWorkspaces": [], "optOutAgents": [], "consentGrants": []}

Told = Callable[[str, str], None]
"""Is called with a user and each category they took back."""


class PrivacyDouble(ThreadingHTTPServer):
    """GET and PUT of `/api/v1/privacy/preferences/{user}`."""

    daemon_threads = True

    def __init__(self, port: int = 0, *, told: Told = lambda user, category: None) -> None:
        """Port 0 takes a free one."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.preferences: dict[str, dict[str, Any]] = {}
        self.told = told
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def put(self, user: str, said: dict[str, Any]) -> dict[str, Any]:
        """Stores what the user says now; a grant that is no longer among them is told as taken back."""
        with self._lock:
            before = self.preferences.get(user, EMPTY)
            known = {name: said.get(name, before[name]) for name in EMPTY}
            self.preferences[user] = {"userId": user, **known, "updatedAt": datetime.now(UTC).isoformat()}
            document = self.preferences[user]
        for category in before["consentGrants"]:
            if category not in document["consentGrants"]:
                self.told(user, category)
        return document


class _Handler(BaseHTTPRequestHandler):
    server: PrivacyDouble

    def do_GET(self) -> None:
        user = self._user()
        document = self.server.preferences.get(user) if user else None
        if document:
            self._answer(200, document)
        else:
            self._answer(404, {"error": f"nothing is known; PUT {PATH}{{user}} says something"})

    def do_PUT(self) -> None:
        user = self._user()
        try:
            said = orjson.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        except ValueError:
            said = None
        if user and isinstance(said, dict):
            self._answer(200, self.server.put(user, said))
        else:
            self._answer(400, {"error": f"send one JSON object to {PATH}{{user}}, with any of {', '.join(EMPTY)}"})

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: the path names a user."""

    def _user(self) -> str:
        return unquote(self.path.removeprefix(PATH)) if self.path.startswith(PATH) else ""

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        body = orjson.dumps(document)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
