"""GET /audit/memories: what happened to a workspace's memories, for its owners (reference: Audit)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from omnia.api.principal import Role
from omnia.audit.pseudonym import pseudonym
from tests.callers import caller
from tests.support import Store, opened_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


def trail(store: Store, *, status: int = 200, **query: Any) -> dict[str, Any]:
    given = {"workspace": str(store.workspace)} | query
    return store.send("GET", "audit/memories", None, status=status, query=given)


def events(answer: dict[str, Any]) -> list[str]:
    return [entry["event"] for entry in answer["entries"]]


def test_an_entry_says_who_did_what_when_and_to_whom_never_what_it_said(store: Store) -> None:
    memory = store.save("Keeps SECRETWORD bees", headers={"User-Agent": "agent/1", "X-Request-ID": "r-1"})["memory"]
    found = trail(store)
    [entry] = found["entries"]
    assert (found["total"], found["next"]) == (1, None)
    at = datetime.fromisoformat(entry.pop("at"))
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=1)
    assert entry.pop("id") != memory["id"]
    assert "SECRETWORD" not in str(entry)
    assert "u1" not in {str(value) for value in entry.values()}
    assert entry | {"metadata": {}} == {
        "event": "memory_created", "workspace_id": str(store.workspace), "actor": "token:owner", "request_id": "r-1",
        "subject_hash": pseudonym("u1"), "memory_id": memory["id"], "ip": "127.0.0.1", "user_agent": "agent/1",
        "metadata": {},
    }  # fmt: skip


def test_filters_narrow_it(store: Store) -> None:
    one = store.save("Keeps bees", session_id="s1")["memory"]["id"]
    store.save("Bakes bread", user="u2", session_id="s2")
    store.patch(one, {"content": "Keeps wasps"})
    store.forget(one)
    assert events(trail(store)) == ["memory_deleted", "memory_updated", "memory_created", "memory_created"]
    assert events(trail(store, userId="u2")) == ["memory_created"]
    assert events(trail(store, userId="nobody")) == []
    assert trail(store, sessionId="s1")["total"] == 3
    assert events(trail(store, sessionId="s3")) == []
    assert events(trail(store, eventTypes="memory_deleted,memory_updated")) == ["memory_deleted", "memory_updated"]
    now = datetime.now(UTC)
    assert trail(store, **from_(now - timedelta(minutes=1)))["total"] == 4
    assert trail(store, to=(now - timedelta(minutes=1)).isoformat())["total"] == 0


def test_pages_follow_one_another_newest_first(store: Store) -> None:
    for number in range(5):
        store.save(f"text {number}")
    met, cursor = [], None
    while True:
        page = trail(store, limit=2, cursor=cursor or "")
        assert page["total"] == 5
        met += [entry["id"] for entry in page["entries"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert met == sorted(set(met), reverse=True)
    assert len(met) == 5


@pytest.mark.parametrize(
    "query",
    [{"limit": 0}, {"limit": 501}, {"cursor": "x"}, {"from": "2026-01-31"}, {"userid": "u1"}, {"to": "now"}],
    ids=str,
)
def test_a_bad_question_is_refused(store: Store, query: dict[str, Any]) -> None:
    trail(store, status=400, **query)


@pytest.mark.parametrize(("role", "status"), [(Role.VIEWER, 403), (Role.EDITOR, 403), (Role.OWNER, 200)])
def test_owners_read_it(store: Store, role: Role, status: int) -> None:
    trail(replace(store, client=caller(role)), status=status)


def test_another_workspaces_events_are_not_in_it(store: Store) -> None:
    with opened_store() as other:
        other.save("Keeps bees")
        assert trail(store)["total"] == 0
        stranger = replace(store, client=caller(Role.OWNER, workspaces=frozenset({other.workspace})))
        trail(stranger, status=404)


def test_a_bound_token_reads_of_its_user_only(store: Store) -> None:
    store.save("Keeps bees")
    store.save("Bakes bread", user="u2")
    bound = replace(store, client=caller(Role.OWNER, subject="u1"))
    assert trail(bound)["total"] == trail(bound, userId="u1")["total"] == 1
    assert trail(bound, userId="u2", status=403)["code"] == "bound_to_a_user"


def from_(moment: datetime) -> dict[str, Any]:
    """The parameter Python has no name for."""
    return {"from": moment.isoformat()}
