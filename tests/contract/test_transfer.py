"""/memories/export and /memories/import: everything held on a user, and what of it can be brought back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.http import StreamingHttpResponse

from memories.services import exporting
from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from tests.callers import caller
from tests.naming import named
from tests.support import Store, Table, contents, fill, opened_store, run

pytestmark = pytest.mark.django_db
FULL: dict[str, Any] = {
    "confidence": 0.4, "metadata": {"k": "v"}, "provenance": "user_requested", "category": "memory:health",
    "about": {"kind": "user", "key": "pet"}, "title": "Pet", "summary": "A cat", "purpose": "p", "container": "c",
    "session_id": "s", "turn_range": [1, 3], "observed_at": "2024-02-29T10:00:00Z", "expires_at": "2999-01-01T00:00:00Z",
}  # fmt: skip
KEPT = ("type", "content", "confidence", "metadata", "evidence_class", "source_type", "consent_category", "about",
        "title", "summary", "purpose", "container", "session_id", "turn_range", "observed_at", "expires_at")  # fmt: skip


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


def test_an_export_is_a_streamed_file(store: Store) -> None:
    store.save()
    answer = store.client.get(f"/api/v1/memories/export?workspace={store.workspace}&user_id=u1")
    assert isinstance(answer, StreamingHttpResponse)
    assert answer["Content-Type"] == "application/json"
    assert answer["Content-Disposition"] == 'attachment; filename="memories-export.json"'
    assert answer["Cache-Control"] == "no-store"
    document = json.loads(b"".join(answer))
    assert sorted(document) == ["exported_at", "memories"]
    assert len(document["memories"]) == 1


def test_an_export_of_nothing_is_a_file_too(store: Store) -> None:
    assert export(store) == []


def test_every_row_of_the_user_is_there_whatever_the_agent(store: Store) -> None:
    for user, agent in (
        ("u1", None),
        ("u1", "a1"),
        ("u1", "a2"),
        ("u2", None),
        ("u2", "a1"),
        (None, "a1"),
        (None, None),
    ):
        store.keep(f"Of {user} for {agent}", user=user, agent=agent)
    with opened_store() as other:
        other.save("Elsewhere")
        assert [each["content"] for each in export(store)] == ["Of u1 for None", "Of u1 for a1", "Of u1 for a2"]
    assert [each["content"] for each in export(store, agent="a1")] == ["Of u1 for a1"]
    assert len(export(store, agent="*")) == 3


def test_a_row_is_the_memory_object_with_its_history(store: Store) -> None:
    memory = store.save("Has 2 cats", **FULL)["memory"]["id"]
    store.patch(memory, {"content": "Has 3 cats"})
    [row] = export(store)
    assert row.items() >= {name: row[name] for name in KEPT}.items()
    assert [each["content"] for each in row["history"]] == ["Has 2 cats"]
    assert not {"forgotten_at", "expired", "superseded_at", "embedding"} & set(row)


def test_what_is_no_longer_live_is_there_and_marked(store: Store) -> None:
    forgotten, expired, first, second, dated = (
        store.save(text)["memory"]["id"] for text in ("Keeps bees", "Lives in Lyon", "Sails", "Rows", "Works at Acme")
    )
    store.forget(forgotten)
    run("UPDATE memories_memory SET expires_at = now() - interval '1 day' WHERE id = %s", expired)
    body = {"scope": scope(store), "source_ids": [first, second], "content": "Sails and rows"}
    store.send("POST", "memories/supersede", body, status=200)
    run(
        "UPDATE memories_memory SET retired_at = now() + interval '1 day', retired_as = 'invalidated' WHERE id = %s",
        dated,
    )
    marked = {row["id"]: {name for name in row if name in MARKS} for row in export(store)}
    assert marked == {
        forgotten: {"forgotten_at"},
        expired: {"expired"},
        first: set(),
        second: {"superseded_at", "superseded_by"},
        dated: set(),
    }
    run("UPDATE memories_memory SET retired_at = now() WHERE id = %s", dated)
    assert "invalidated_at" in next(row for row in export(store) if row["id"] == dated)


MARKS = {"forgotten_at", "expired", "superseded_at", "superseded_by", "invalidated_at"}


def test_more_than_a_page_comes_once_each_oldest_first(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "PAGE", 7)
    fill(store.workspace, 23, user="u1", text="{i}")
    assert [each["content"] for each in export(store)] == [str(number) for number in range(1, 24)]


def test_an_export_needs_a_user_and_an_owner(store: Store) -> None:
    store.save()
    for query in ({"user_id": None}, {"user_id": ""}, {"user_id": None, "agent": "a1"}):
        assert store.get("memories/export", status=400, **query)["code"] == "user_required"
    assert store.get("memories/export", status=400, type="fact")["code"] == "unknown_parameter"
    for client in (caller(Role.VIEWER), caller(Role.EDITOR), caller(Role.OWNER, subject="u2")):
        Store(store.workspace, client).get("memories/export", status=403)


def test_an_export_is_in_the_audit(store: Store) -> None:
    store.save()
    export(store)
    row = AuditRow.objects.filter(workspace_id=store.workspace).latest("id")
    assert (row.event, row.actor, row.metadata) == ("memory_exported", "token:owner", {"memories": 1})
    assert row.subject_hash


# Import


def test_an_export_comes_back_for_the_owner_of_the_request(store: Store) -> None:
    store.save("Has 2 cats", **FULL)
    store.save("Keeps bees", agent="a1")
    with opened_store() as other:
        body = {"scope": scope(other, "u9"), "memories": export(store)}
        assert load(other, body) == {"imported": 2, "merged": 0, "skipped": 0, "rejected": []}
        mine = {each["content"]: each for each in other.browse(user_id="u9")["memories"]}
        assert {each["scope"]["virtual_user_id"] for each in mine.values()} == {"u9"}
    theirs = {each["content"]: each for each in export(store)}
    for content, memory in mine.items():
        assert {name: memory.get(name) for name in KEPT} == {name: theirs[content].get(name) for name in KEPT}
        assert memory["id"] != theirs[content]["id"]


def test_the_whole_file_can_be_sent_as_it_is(store: Store) -> None:
    store.save("Keeps bees")
    answer = store.client.get(f"/api/v1/memories/export?workspace={store.workspace}&user_id=u1")
    document = b"".join(answer).decode()
    query = {"workspace": str(store.workspace), "user_id": "u2"}
    assert store.send("POST", "memories/import", document, status=200, query=query)["imported"] == 1
    assert contents(store.browse(user_id="u2")) == ["Keeps bees"]


def test_owners_are_the_scopes_never_the_files(store: Store) -> None:
    items = [{"type": "fact", "content": "Keeps bees", "virtual_user_id": "u7", "agent_id": "a7", "id": NOBODY,
              "scope": {"workspace_id": NOBODY, "virtual_user_id": "u7", "agent_id": "a7"}, "tier": "institutional",
              "evidence_count": 9, "mutability": "immutable", "created_at": "2001-01-01T00:00:00Z"}]  # fmt: skip
    assert load(store, {"scope": scope(store) | {"agent_id": "a1"}, "items": items})["imported"] == 1
    [memory] = store.browse(agent="a1")["memories"]
    assert memory["scope"] == {"workspace_id": str(store.workspace), "virtual_user_id": "u1", "agent_id": "a1"}
    assert (memory["evidence_count"], memory["mutability"], memory["id"] == NOBODY) == (1, "mutable", False)
    assert memory["created_at"] > "2025"


NOBODY = "01a22e4f-594c-7c82-ac0e-e4e65dff07c8"


@pytest.mark.parametrize("mark", [
    {"forgotten_at": "2026-01-01T00:00:00Z"}, {"expired": True}, {"superseded_at": "2026-01-01T00:00:00Z"},
    {"invalidated_at": "2026-01-01T00:00:00Z"},
], ids=named)  # fmt: skip
def test_what_is_marked_as_no_longer_held_is_skipped(store: Store, mark: dict[str, Any]) -> None:
    items = [saved("Keeps bees") | mark, saved("Sails")]
    assert load(store, {"scope": scope(store), "items": items}) == {
        "imported": 1, "merged": 0, "skipped": 1, "rejected": [],
    }  # fmt: skip
    assert contents(store.browse()) == ["Sails"]


def test_marks_that_say_nothing_skip_nothing(store: Store) -> None:
    items = [saved("Sails", expired=False, forgotten_at=None)]
    assert load(store, {"scope": scope(store), "items": items})["imported"] == 1


def test_each_bad_item_is_told_with_its_place(store: Store) -> None:
    past = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    items = [saved("Sails"), 7, saved(" "), saved("Rows", expired=True), saved("Swims", confidence=3), saved("Runs", type="x"),
             saved("Keeps bees", expires_at=past), {"content": "No type"}]  # fmt: skip
    found = load(store, {"scope": scope(store), "items": items})
    assert (found["imported"], found["skipped"]) == (1, 1)
    assert [(each["index"], each["code"]) for each in found["rejected"]] == [
        (1, "invalid"), (2, "content_empty"), (4, "invalid"), (5, "type_not_declared"), (6, "expires_in_the_past"),
        (7, "invalid"),
    ]  # fmt: skip
    assert "Keeps bees" not in str(found)
    assert contents(store.browse()) == ["Sails"]


def test_what_is_there_already_is_merged(store: Store) -> None:
    store.save("Keeps bees")
    store.save("In Lyon", about={"kind": "user", "key": "city"})
    items = [
        saved("Keeps bees"),
        saved("In Rome", about={"kind": "user", "key": "city"}),
        saved("Sails"),
        saved("Sails"),
    ]
    assert load(store, {"scope": scope(store), "items": items}) == {
        "imported": 1, "merged": 3, "skipped": 0, "rejected": [],
    }  # fmt: skip
    assert sorted(contents(store.browse())) == ["In Rome", "Keeps bees", "Sails"]


def test_dedup_switched_off_is_off_here_too() -> None:
    """Field faults C 66."""
    with opened_store(policy={"dedup": {"embeddingSimilarity": {"enabled": False}}}) as store:
        assert load(store, {"scope": scope(store), "items": [saved("Sails")] * 2})["imported"] == 2


def test_an_import_has_expiry_and_vocabulary_of_its_new_place(store: Store) -> None:
    with opened_store(policy={"tiers": {"user": {"ttl": {"maxAge": "30d"}}}}) as other:
        load(other, {"scope": scope(other), "items": [saved("Sails", expires_at="2999-01-01T00:00:00Z")]})
        assert other.browse()["memories"][0]["expires_at"] < "2100"


SOURCES = [
    # what the file says, what the memory has
    ({"source_type": "conversation_extraction"}, "conversation_extraction"),
    ({"source_type": "system_generated"}, "system_generated"),
    ({"source_type": "user_requested"}, "user_requested"),
    ({"source_type": "operator_curated"}, "operator_curated"),
    ({"source_type": "gate"}, "conversation_extraction"),
    ({"source_type": "document"}, "conversation_extraction"),
    ({"source_type": "nonsense"}, "conversation_extraction"),
    ({"provenance": "user_requested", "source_type": "gate"}, "user_requested"),
    ({}, "conversation_extraction"),
]


@pytest.mark.parametrize(("said", "kept"), SOURCES)
def test_who_said_it_is_kept_where_a_writer_may_say_so(store: Store, said: dict[str, str], kept: str) -> None:
    load(store, {"scope": scope(store), "items": [saved("Sails", **said)]})
    assert store.browse()["memories"][0]["source_type"] == kept


def test_many_are_embedded_a_hundred_at_a_time() -> None:
    calls: list[int] = []

    class Counting(Table):
        def embed_passages(self, texts: Any) -> Any:
            calls.append(len(texts))
            return super().embed_passages(texts)

    with opened_store(embedder=Counting()) as store:
        items = [saved(f"Fact {number}", about={"kind": "n", "key": str(number)}) for number in range(230)]
        assert load(store, {"scope": scope(store), "items": items})["imported"] == 230
    assert calls == [100, 100, 30]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "required"),
    ({"items": [], "memories": []}, "required"),
    ({"items": {}}, "invalid"),
    ({"items": "x"}, "invalid"),
    ({"items": [{}] * 10_001}, "invalid"),
]


@pytest.mark.parametrize(("fields", "code"), REFUSED, ids=range(len(REFUSED)))
def test_a_file_that_is_none_is_refused(store: Store, fields: dict[str, Any], code: str) -> None:
    refused = store.send("POST", "memories/import", {"scope": scope(store), **fields}, status=400)
    assert refused["code"] == code


def test_an_import_needs_a_user_and_an_editor(store: Store) -> None:
    body = {"scope": {"workspace_id": str(store.workspace)}, "items": [saved("Sails")]}
    assert store.send("POST", "memories/import", body, status=400)["code"] == "user_required"
    body = {"scope": scope(store), "items": [saved("Sails")]}
    for client, status in (
        (caller(Role.VIEWER), 403),
        (caller(Role.OWNER, subject="u2"), 403),
        (caller(Role.EDITOR), 200),
    ):
        Store(store.workspace, client).send("POST", "memories/import", body, status=status)


def test_an_import_is_in_the_audit_as_a_whole_and_row_by_row(store: Store) -> None:
    load(
        store,
        {"scope": scope(store), "items": [saved("Sails"), saved("Sails"), saved(" "), saved("Rows", expired=True)]},
    )
    rows = AuditRow.objects.filter(workspace_id=store.workspace).order_by("id")
    assert [row.event for row in rows] == ["memory_created", "memory_merged", "memory_imported"]
    last = rows.last()
    assert last is not None
    assert last.metadata == {"imported": 1, "merged": 1, "skipped": 1, "rejected": 1}


def test_a_key_answers_twice_and_imports_once(store: Store) -> None:
    """Field faults C 74."""
    body = {"scope": scope(store), "items": [saved("Sails")]}
    answers = [store.send("POST", "memories/import", body, status=200, headers={"Idempotency-Key": "k"}) for _ in "ab"]
    assert answers[0] == answers[1]
    assert len(store.rows()) == 1


def test_every_imported_row_is_found_by_a_rare_word(store: Store) -> None:
    """Field faults E 93."""
    load(store, {"scope": scope(store), "items": [saved("Owns a theremin")]})
    assert contents(store.search("theremin")) == contents(store.recall("theremin")) == ["Owns a theremin"]


def scope(store: Store, user: str = "u1") -> dict[str, Any]:
    return {"workspace_id": str(store.workspace), "virtual_user_id": user}


def saved(content: str, **fields: Any) -> dict[str, Any]:
    return {"type": "fact", "content": content, **fields}


def load(store: Store, body: dict[str, Any]) -> dict[str, Any]:
    return store.send("POST", "memories/import", body, status=200)


def export(store: Store, **query: Any) -> list[dict[str, Any]]:
    asked = {"workspace": str(store.workspace), "user_id": "u1", **query}
    answer = store.client.get("/api/v1/memories/export", query_params=asked)
    assert answer.status_code == 200
    memories: list[dict[str, Any]] = json.loads(b"".join(answer))["memories"]
    return memories
