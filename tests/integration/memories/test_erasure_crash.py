"""An erasure killed anywhere ends as one that was left alone (security P 303)."""

from __future__ import annotations

import multiprocessing
import os
import signal
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections

import omnia.db
from memories.models import Erasure
from memories.services import erasure as service
from memories.services.erasure import carry_out, request_erasure
from memories.store import erasures
from omnia.core.actor import Actor
from tests.support import Store, fill, opened_store, select

PERSON = "person-to-erase"
MEMORIES = 30


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(service, "settles_after", timedelta)
    monkeypatch.setattr(service, "BATCH", 10)
    with opened_store() as opened:
        yield opened


def killed_at(statement: int, erasure: Any) -> bool:
    """Carries the erasure out in a process that is killed as it comes to this statement; False when it never does."""
    connections.close_all()
    child = multiprocessing.get_context("fork").Process(target=_until, args=(statement, erasure))
    child.start()
    child.join(60)
    assert child.exitcode in (0, -signal.SIGKILL)
    return child.exitcode != 0


def _until(statement: int, erasure: Any) -> None:
    run, left = omnia.db._run, statement

    def counted(sql: str, parameters: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return run(sql, parameters)

    omnia.db._run = counted
    try:
        # The server may not have noticed yet that the life before is over, and hold its locks: then look again.
        while erasures.unfinished():
            carry_out(erasure)
    finally:
        os._exit(0)


@pytest.mark.django_db(transaction=True)
def test_security_303_it_resumes_wherever_it_was_killed(store: Store) -> None:
    fill(store.workspace, MEMORIES, user=PERSON)
    fill(store.workspace, 5, user="u2")
    store.save("Takes insulin", user=PERSON, about={"kind": "user", "key": "insulin"})
    erasure = request_erasure(PERSON, workspace=None, actor=Actor("system:tests"))
    kills = 0
    # Each life gets one statement further than the one before it, from the start to the end.
    while killed_at(kills, erasure):
        kills += 1
        assert kills < 500
    assert kills > 10
    done = Erasure.objects.get(id=erasure)
    assert (done.status, done.subject) == ("completed", None)
    assert done.removed["memories"] == MEMORIES + 1
    assert select("SELECT count(*) FROM memories_memory")[0]["count"] == 5
    assert select("SELECT count(*) FROM omnia_audit WHERE event = 'subject_erased'")[0]["count"] == 1
    assert not carry_out(erasure)
    assert erasures.unfinished() == []
