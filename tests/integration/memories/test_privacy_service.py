"""Asking the privacy service: an answer that cannot be relied on is none (reference: Consent)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson
import pytest

from memories.clients.privacy import KEPT_SECONDS, LARGEST_ANSWER, NEVER_SAID, RESTS_SECONDS, PrivacyService
from memories.domain.consent import Preferences

SAID = {
    "userId": "ann", "optOutAll": False, "optOutWorkspaces": ["w"], "optOutAgents": ["a"],
    "consentGrants": ["memory:health"], "updatedAt": "2026-01-31T10:00:00+01:00",
}  # fmt: skip
READ = Preferences(
    opted_out_workspaces=frozenset({"w"}), opted_out_agents=frozenset({"a"}), grants=frozenset({"memory:health"}),
    updated_at=datetime(2026, 1, 31, 9, tzinfo=UTC),
)  # fmt: skip


class Call(BaseHTTPRequestHandler):
    server: Faulty

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        self.server.behaviour(self)

    def send(self, body: bytes = b"", *, status: int = 200, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(length or len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def wait(self) -> None:
        self.server.stopped.wait(5)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


class Faulty(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Call)
        self.paths: list[str] = []
        self.behaviour: Callable[[Call], None] = answer(SAID)
        self.stopped = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


def answer(document: Any) -> Callable[[Call], None]:
    return lambda call: call.send(orjson.dumps(document))


@pytest.fixture
def server() -> Iterator[Faulty]:
    faulty = Faulty()
    thread = threading.Thread(target=faulty.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield faulty
    faulty.stopped.set()
    faulty.shutdown()
    faulty.server_close()
    thread.join()


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_what_a_person_said_is_read(server: Faulty) -> None:
    assert PrivacyService(server.url).preferences("ann") == READ
    assert server.paths == ["/api/v1/privacy/preferences/ann"]


def test_who_is_not_known_never_said_anything(server: Faulty) -> None:
    server.behaviour = lambda call: call.send(status=404)
    assert PrivacyService(server.url).preferences("ann") == NEVER_SAID


@pytest.mark.parametrize("user", ["..", ".", "a/b", "a?b#c", "a%2Fb", "ünï", "a b", "a@b.c"])
def test_a_user_is_one_step_of_the_path(server: Faulty, user: str) -> None:
    server.behaviour = answer(SAID | {"userId": user})
    assert PrivacyService(server.url).preferences(user) == READ
    [path] = server.paths
    assert path.startswith("/api/v1/privacy/preferences/")
    assert not set(path.removeprefix("/api/v1/privacy/preferences/")) & set("/?#.")


FAULTS: dict[str, Callable[[Call], None]] = {
    "for another user": answer(SAID | {"userId": "bob"}),
    "for a user of other case": answer(SAID | {"userId": "Ann"}),
    **{f"without {field}": answer({k: v for k, v in SAID.items() if k != field}) for field in list(SAID)[:5]},
    "opt-out as text": answer(SAID | {"optOutAll": "false"}),
    "opt-out null": answer(SAID | {"optOutAll": None}),
    "grants null": answer(SAID | {"consentGrants": None}),
    "grants as text": answer(SAID | {"consentGrants": "memory:health"}),
    "grants of objects": answer(SAID | {"consentGrants": [{"category": "memory:health"}]}),
    "a time without offset": answer(SAID | {"updatedAt": "2026-01-31T10:00:00"}),
    "a time as number": answer(SAID | {"updatedAt": 1}),
    "a list": answer([SAID]),
    "null": answer(None),
    "not JSON": lambda call: call.send(b"<html>"),
    "half of it": lambda call: call.send(orjson.dumps(SAID)[:-4]),
    "cut short": lambda call: call.send(b"{", length=400),
    "empty": lambda call: call.send(),
    "too large": lambda call: call.send(orjson.dumps(SAID | {"x": "y" * LARGEST_ANSWER})),
    "a redirect": lambda call: call.send(status=302, location=f"{call.server.url}/elsewhere"),
    **{str(status): partial(Call.send, status=status) for status in (204, 401, 403, 500)},
    "never": lambda call: call.wait(),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_an_answer_that_cannot_be_relied_on_is_none(server: Faulty, fault: Callable[[Call], None]) -> None:
    server.behaviour = fault
    assert PrivacyService(server.url, deadline_seconds=0.3).preferences("ann") is None
    assert len(server.paths) == 1


def test_an_answer_is_kept_for_half_a_minute(server: Faulty) -> None:
    clock = Clock()
    service = PrivacyService(server.url, clock=clock)
    service.preferences("ann")
    clock.now += KEPT_SECONDS - 0.1
    assert service.preferences("ann") == READ
    assert len(server.paths) == 1
    clock.now += 0.2
    service.preferences("ann")
    assert len(server.paths) == 2


def test_an_answer_that_is_too_old_does_not_stand_in(server: Faulty) -> None:
    clock = Clock()
    service = PrivacyService(server.url, clock=clock)
    service.preferences("ann")
    clock.now += KEPT_SECONDS
    server.behaviour = lambda call: call.send(status=500)
    assert service.preferences("ann") is None


def test_after_a_failure_nobody_waits_for_it_again_at_once(server: Faulty) -> None:
    clock = Clock()
    service = PrivacyService(server.url, clock=clock)
    server.behaviour = lambda call: call.send(status=500)
    assert [service.preferences(user) for user in ("ann", "bob", "cy")] == [None, None, None]
    assert len(server.paths) == 1
    clock.now += RESTS_SECONDS
    server.behaviour = answer(SAID)
    assert service.preferences("ann") == READ


def test_nobody_listens() -> None:
    assert PrivacyService("http://127.0.0.1:9").preferences("ann") is None
