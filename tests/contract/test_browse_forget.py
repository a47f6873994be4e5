"""Forget: one memory out of every sight at once, or everything of an owner for good (reference: Forget)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from omnia.api.models import IdempotencyRecord
from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from tests.callers import caller
from tests.naming import named
from tests.support import Store, contents, fill, opened_store, run, select

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store(policy={"dedup": {"embeddingSimilarity": {"surfaceDuplicatesAbove": "0.3"}}}) as opened:
        yield opened


def test_a_forgotten_memory_is_gone_from_every_surface_at_once(store: Store) -> None:
    memory = store.save("Keeps bees in Lyon")["memory"]["id"]
    warm = store.recall("bees"), store.browse(), store.search("bees")
    assert all(contents(answer) == ["Keeps bees in Lyon"] for answer in warm)
    assert store.forget(memory) == {"status": "forgotten", "memory_id": memory}
    for answer in (store.recall("bees"), store.recall(), store.browse(), store.search("bees"),
                   store.browse(agent="*"), store.search("bees", preview="true")):  # fmt: skip
        assert answer["memories"] == []
        assert answer["total"] == 0
    for missing in (store.open(memory, status=404), store.history(memory, status=404),
                    store.patch(memory, {"content": "Back"}, status=404), store.forget(memory, status=404)):  # fmt: skip
        assert missing["code"] == "memory_not_found"
    again = store.save("Keeps bees in Lyon")
    assert again["action"] == "added"
    assert "potential_duplicates" not in again
    assert len(store.rows("id")) == 2


def test_a_forgotten_memory_lies_in_the_trash_and_in_the_audit(store: Store) -> None:
    memory = store.save("SECRETWORD")["memory"]["id"]
    store.forget(memory)
    [row] = store.rows("retired_as, retired_at")
    assert row["retired_as"] == "forgotten"
    last = AuditRow.objects.filter(workspace_id=store.workspace).order_by("id").last()
    assert last is not None
    assert (last.event, last.reason, str(last.memory_id)) == ("memory_deleted", "forgotten", memory)


NOT_MEMORIES = ["018f0000-0000-7000-8000-000000000000", "not-a-uuid", "%00", "..", "{}", "x" * 10_000]


@pytest.mark.parametrize("ident", NOT_MEMORIES, ids=range(len(NOT_MEMORIES)))
def test_an_id_that_is_none_of_ours_is_404(store: Store, ident: str) -> None:
    store.save()
    for method in ("get", "delete"):
        answer = getattr(store.client, method)(f"/api/v1/memories/{ident}/?workspace={store.workspace}&user_id=u1"
                                               if ident == ".." else
                                               f"/api/v1/memories/{ident}?workspace={store.workspace}&user_id=u1")  # fmt: skip
        assert answer.status_code == 404
    assert store.browse()["total"] == 1


def test_ids_of_every_answer_work_in_open_and_forget(store: Store) -> None:
    first = store.save("Ann keeps many brown bees in Lyon")["memory"]["id"]
    near = store.save("Ann keeps many brown bees in Rome")["potential_duplicates"][0]["id"]
    assert near == first
    for answer in (store.recall("bees"), store.browse(), store.search("bees")):
        assert all(store.open(memory["id"])["id"] == memory["id"] for memory in answer["memories"])
    store.forget(near)


def test_forget_everything_of_a_user_takes_their_rows_and_no_others(store: Store) -> None:
    owners: list[tuple[str | None, str | None]] = [
        ("u1", None), ("u1", "a1"), ("u1", "a2"), ("u2", None), ("u2", "a1"), (None, "a1"), (None, None),
    ]  # fmt: skip
    for user, agent in owners:
        for number in range(3):
            store.keep(f"Fact number {number}", user=user, agent=agent)
    run(
        "UPDATE memories_memory SET expires_at = now() WHERE user_id = 'u1' AND agent_id IS NULL AND content LIKE '%%1'"
    )
    with opened_store() as other:
        other.save()
        assert everything(store, user_id="u1") == {"deleted": 9}
        assert len(other.rows("id")) == 1
    left = select("SELECT user_id, agent_id, count(*) AS rows FROM memories_memory WHERE workspace_id = %s"
                  " GROUP BY 1, 2 ORDER BY 1, 2", store.workspace)  # fmt: skip
    assert {(row["user_id"], row["agent_id"]): row["rows"] for row in left} == dict.fromkeys(owners[3:], 3)


def test_forget_everything_takes_history_keys_and_kept_answers_along(store: Store) -> None:
    about = {"kind": "user", "key": "city"}
    store.save("Lives in Lyon", about=about, headers={"Idempotency-Key": "k1"})
    store.save("Lives in Rome", about=about)
    store.save("Lives in Oslo", about=about, user="u2", headers={"Idempotency-Key": "k2"})
    everything(store, user_id="u1")
    for table in ("memories_wording", "memories_entity"):
        rows = select(f"SELECT 1 FROM {table}")
        assert len(rows) == (table == "memories_entity")
    assert [record.subject for record in IdempotencyRecord.objects.filter(workspace_id=store.workspace)] == ["u2"]


SCOPES: list[tuple[dict[str, Any], int]] = [
    # the scope named, how many of the rows go
    ({"user_id": "u1", "agent": "a1"}, 1),
    ({"user_id": "u1"}, 2),
    ({"agent": "a1"}, 1),
    ({"user_id": "nobody"}, 0),
    ({"user_id": "U1"}, 0),
]


@pytest.mark.parametrize(("scope", "gone"), SCOPES)
def test_forget_everything_takes_the_named_owner(store: Store, scope: dict[str, Any], gone: int) -> None:
    owners: list[tuple[str | None, str | None]] = [("u1", None), ("u1", "a1"), ("u2", "a1"), (None, "a1"), (None, None)]
    for user, agent in owners:
        store.keep("A fact", user=user, agent=agent)
    assert everything(store, **scope) == {"deleted": gone}
    assert len(store.rows("id")) == 5 - gone


NO_OWNER: list[dict[str, Any]] = [{}, {"user_id": ""}, {"agent": ""}, {"user_id": "", "agent": ""}, {"user_id": " "},
                                  {"agent": "*"}, {"user_id": "u1", "agent": "*"}]  # fmt: skip


@pytest.mark.parametrize("scope", NO_OWNER, ids=named)
def test_an_empty_filter_never_means_all(store: Store, scope: dict[str, Any]) -> None:
    store.save()
    everything(store, status=400, **scope)
    assert len(store.rows("id")) == 1


def test_forget_everything_is_for_owners(store: Store) -> None:
    store.save()
    everything(Store(store.workspace, caller(Role.EDITOR)), status=403, user_id="u1")
    bound = Store(store.workspace, caller(Role.OWNER, subject="u2"))
    everything(bound, status=403, user_id="u1")
    assert len(store.rows("id")) == 1


def test_forget_everything_is_more_than_a_page(store: Store) -> None:
    fill(store.workspace, 2500, user="u1")
    assert everything(store, user_id="u1") == {"deleted": 2500}
    assert store.browse()["total"] == 0


def everything(store: Store, *, status: int = 200, **scope: Any) -> dict[str, Any]:
    return store.send("DELETE", "memories", None, status=status, query={"workspace": str(store.workspace), **scope})
