"""A keep-alive HTTP client that costs little and hides nothing: bytes out, status and bytes back."""

from __future__ import annotations

import http.client
import time
from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Answer:
    """`seconds` is wall time from the first byte sent to the last one read."""

    status: int
    body: bytes
    seconds: float

    def json(self) -> Any:
        """The parsed body. Raises AssertionError showing the body of an answer that is not 2xx."""
        assert 200 <= self.status < 300, f"{self.status}: {self.body[:500].decode()}"
        return orjson.loads(self.body)


class Client:
    """One connection to one server on this machine."""

    def __init__(self, port: int, *, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def get(self, path: str) -> Answer:
        return self._ask("GET", path, None)

    def post(self, path: str, document: dict[str, Any]) -> Answer:
        return self._ask("POST", path, orjson.dumps(document))

    def _ask(self, method: str, path: str, body: bytes | None) -> Answer:
        headers = self._headers | {"Content-Type": "application/json"} if body else self._headers
        started = time.perf_counter()
        self._connection.request(method, path, body=body, headers=headers)
        response = self._connection.getresponse()
        content = response.read()
        return Answer(response.status, content, time.perf_counter() - started)
