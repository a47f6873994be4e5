"""PATCH: a memory's words and attributes changed in place; owners never move (design: PATCH)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memories.services.forget import forget
from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from omnia.core.actor import Actor
from tests.callers import caller
from tests.naming import named
from tests.support import Meanwhile, Store, Table, contents, opened_store

pytestmark = pytest.mark.django_db
ACTOR = Actor("system:tests")


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


def test_an_edit_replaces_embeds_indexes_and_keeps_the_old_wording(store: Store) -> None:
    first = store.save("Lives in Lyon", title="Home")["memory"]
    [before] = store.rows("embedding::text AS vector")
    edited = store.patch(first["id"], {"content": "Lives in Rome", "title": None, "confidence": 0.9})
    memory = edited["memory"]
    assert edited["action"] == "updated"
    assert (memory["id"], memory["content"], memory["confidence"]) == (first["id"], "Lives in Rome", 0.9)
    assert "title" not in memory
    assert memory["created_at"] == first["created_at"] < memory["updated_at"]
    [after] = store.rows("embedding::text AS vector")
    assert after["vector"] != before["vector"]
    assert contents(store.search("Rome")) == contents(store.recall("Rome")) == ["Lives in Rome"]
    [old] = store.history(first["id"])["wordings"]
    assert (old["content"], old["title"], old["confidence"]) == ("Lives in Lyon", "Home", 0.7)
    assert (old["reason"], old["actor"]) == ("edited", "token:owner")


def test_the_history_tells_every_wording_newest_first(store: Store) -> None:
    memory = store.save("One")["memory"]["id"]
    for word in ("Two", "Three", "Four"):
        store.patch(memory, {"content": word})
    assert [each["content"] for each in store.history(memory)["wordings"]] == ["Three", "Two", "One"]


def test_an_unchanged_text_is_not_embedded_again() -> None:
    table = Table()
    with opened_store(embedder=table) as store:
        memory = store.save("Lives in Lyon")["memory"]["id"]
        [before] = store.rows("embedding::text AS vector")
        table.asked.clear()
        store.patch(memory, {"confidence": 0.2, "metadata": {"a": "1"}, "summary": "s"})
        assert table.asked == []
        assert store.rows("embedding::text AS vector") == [before]


def test_an_edit_while_the_embedder_is_down_is_kept_and_found_by_its_words() -> None:
    table = Table()
    with opened_store(embedder=table) as store:
        memory = store.save("Lives in Lyon")["memory"]["id"]
        table.fails = True
        assert store.patch(memory, {"content": "Keeps bees"})["memory"]["embedding_status"] == "pending"
        [row] = store.rows("embedding, embedding_model_id, embed_after")
        assert (row["embedding"], row["embedding_model_id"]) == (None, None)
        assert row["embed_after"] is not None
        assert contents(store.recall("bees")) == ["Keeps bees"]


KEPT: dict[str, Any] = {
    "type": "fact", "content": "Lives in Lyon", "confidence": 0.4, "metadata": {"a": "1"}, "title": "Home",
    "summary": "Where", "expires_at": "2999-01-01T00:00:00Z",
}  # fmt: skip
CHANGED: dict[str, Any] = {
    "type": "general", "content": "Lives in Rome", "confidence": 0.0, "metadata": {}, "title": "House",
    "summary": None, "expires_at": "2998-01-01T00:00:00Z",
}  # fmt: skip


@pytest.mark.parametrize("field", CHANGED)
def test_only_the_named_field_changes(store: Store, field: str) -> None:
    first = store.save(**KEPT)["memory"]
    edited = store.patch(first["id"], {field: CHANGED[field]})["memory"]
    expected = KEPT | {field: CHANGED[field]}
    assert {name: edited.get(name) for name in KEPT} == expected


def test_an_empty_edit_changes_no_wording(store: Store) -> None:
    first = store.save(**KEPT)["memory"]
    edited = store.patch(first["id"], {})["memory"]
    assert {name: edited[name] for name in KEPT} == KEPT
    assert store.history(first["id"])["wordings"] == []


OWNERS: dict[str, Any] = {
    "id": "018f0000-0000-7000-8000-000000000000", "workspace": "x", "tier": "institutional", "container": "c",
    "evidence_class": "curated", "evidence_count": 9, "source_type": "gate", "mutability": "immutable",
    "created_at": "2001-01-01T00:00:00Z", "about": {"kind": "a", "key": "b"}, "retired_at": None, "deleted": True,
}  # fmt: skip


def test_what_the_server_owns_does_not_change(store: Store) -> None:
    first = store.save()["memory"]
    fields = {name: value for name, value in OWNERS.items() if name != "workspace"}
    edited = store.patch(first["id"], fields | {"metadata": {"user_id": "u2"}})["memory"]
    same = first | {"metadata": {"user_id": "u2"}, "updated_at": edited["updated_at"]}
    assert edited == same


def test_owners_never_move(store: Store) -> None:
    memory = store.save()["memory"]["id"]
    elsewhere: list[dict[str, Any]] = [
        {"scope": {"virtual_user_id": "u2"}}, {"user_id": "u2"}, {"agent_id": "a1"}, {"scope": {"agent_id": "a1"}},
    ]  # fmt: skip
    for other in elsewhere:
        answer = store.client.patch(
            f"/api/v1/memories/{memory}?workspace={store.workspace}&user_id=u1",
            {"content": "Stolen", **other},
            content_type="application/json",
        )
        assert answer.status_code in (400, 404)
    [row] = store.rows("user_id, agent_id, content")
    assert row == {"user_id": "u1", "agent_id": None, "content": "Lives in Lyon"}


WRONG_SCOPES: list[dict[str, Any]] = [
    {"user_id": "u2"}, {"user_id": None}, {"agent": "a1"}, {"user_id": None, "agent": "a1"}, {"user_id": "U1"},
]  # fmt: skip


@pytest.mark.parametrize("scope", WRONG_SCOPES, ids=named)
def test_another_scope_answers_404_and_changes_nothing(store: Store, scope: dict[str, Any]) -> None:
    memory = store.save()["memory"]["id"]
    asked = [
        store.open(memory, status=404, **scope), store.history(memory, status=404, **scope),
        store.patch(memory, {"content": "Stolen"}, status=404, **scope), store.forget(memory, status=404, **scope),
    ]  # fmt: skip
    missing = store.open("018f0000-0000-7000-8000-000000000000", status=404, **scope)
    for answer in asked:
        assert {**answer, "request_id": ""} == {**missing, "request_id": ""}
    assert contents(store.browse()) == ["Lives in Lyon"]


def test_another_workspace_answers_404(store: Store) -> None:
    memory = store.save()["memory"]["id"]
    with opened_store() as other:
        other.patch(memory, {"content": "Stolen"}, status=404)
        other.open(memory, status=404)
        other.forget(memory, status=404)
    assert store.open(memory)["content"] == "Lives in Lyon"


RULES = [
    # the change, the problem's code
    ({"type": "nope"}, "type_not_declared"),
    ({"type": "document"}, "tier_not_allowed"),
    ({"content": ""}, "content_empty"),
    ({"content": " \u200b"}, "content_empty"),
    ({"content": "é" * 4097}, "body_too_large"),
    ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_in_the_past"),
    ({"expires_at": "2999-01-01"}, "invalid"),
    ({"confidence": 1.01}, "invalid"),
    ({"confidence": None}, "invalid"),
    ({"content": None}, "invalid"),
    ({"type": None}, "invalid"),
    ({"metadata": None}, "invalid"),
    ({"metadata": {"a": 1}}, "invalid"),
    ({"content": "ok", "title": 5}, "invalid"),
    ([], "invalid_json"),
]


@pytest.mark.parametrize(("change", "code"), RULES)
def test_an_edit_obeys_the_rules_of_a_save(store: Store, change: Any, code: str) -> None:
    first = store.save()["memory"]
    assert store.patch(first["id"], change, status=400)["code"] == code
    assert {**store.open(first["id"]), "access_count": 0} == {**first, "access_count": 0}


def test_an_edit_may_not_lead_around_a_required_key() -> None:
    with opened_store(policy={"dedup": {"requireAboutForKinds": ["preference"]}}) as store:
        memory = store.save()["memory"]["id"]
        assert store.patch(memory, {"type": "preference"}, status=400)["code"] == "about_required"
        keyed = store.save("x", about={"kind": "a", "key": "b"})["memory"]["id"]
        assert store.patch(keyed, {"type": "preference"})["memory"]["type"] == "preference"


EXPIRY = [
    # the user tier's ttl, the change in days (None: null), days left (None: never)
    ({}, None, None),
    ({}, 400, 400),
    ({"default": "10d"}, None, 10),
    ({"default": "10d", "maxAge": "30d"}, None, 10),
    ({"default": "10d", "maxAge": "30d"}, 20, 20),
    ({"default": "10d", "maxAge": "30d"}, 400, 30),
]


@pytest.mark.parametrize(("ttl", "days", "left"), EXPIRY)
def test_an_expiry_is_settled_by_the_policy(ttl: dict[str, str], days: int | None, left: int | None) -> None:
    with opened_store(policy={"tiers": {"user": {"ttl": ttl}}}) as store:
        memory = store.save(expires_at=(datetime.now(UTC) + timedelta(days=5)).isoformat())["memory"]["id"]
        stated = None if days is None else (datetime.now(UTC) + timedelta(days=days)).isoformat()
        edited = store.patch(memory, {"expires_at": stated})["memory"]
        assert ("expires_at" in edited) == (left is not None)
        if left is not None:
            span = datetime.fromisoformat(edited["expires_at"]) - datetime.now(UTC)
            assert round(span / timedelta(days=1)) == left


def test_an_edit_leaves_one_audit_row_of_the_same_owner(store: Store) -> None:
    memory = store.save("SECRETWORD")["memory"]["id"]
    store.patch(memory, {"content": "SECRETWORD again"})
    created, updated = AuditRow.objects.filter(workspace_id=store.workspace).order_by("id")
    assert (updated.event, updated.reason, str(updated.memory_id)) == ("memory_updated", "edited", memory)
    assert updated.subject_hash == created.subject_hash
    assert "SECRETWORD" not in str(updated.__dict__)


ROLES = [
    # role, status in a user tier, status in a shared tier
    (Role.VIEWER, 403, 403),
    (Role.EDITOR, 200, 403),
    (Role.OWNER, 200, 200),
    (Role.PLATFORM_ADMIN, 200, 200),
]


@pytest.mark.parametrize(("role", "personal", "shared"), ROLES)
@pytest.mark.parametrize("change", ["patch", "forget"])
def test_who_may_change_what(store: Store, role: Role, personal: int, shared: int, change: str) -> None:
    own, common = store.save()["memory"]["id"], store.keep("Closed on Sundays").memory["id"]
    other = Store(store.workspace, caller(role))
    act: Callable[..., Any] = (
        other.forget if change == "forget" else lambda each, **k: other.patch(each, {"confidence": 1}, **k)
    )
    act(own, status=personal)
    act(common, status=shared, user_id=None)
    assert other.open(own, status=404 if change == "forget" and personal == 200 else 200)


def test_a_bound_token_changes_its_users_memories_only(store: Store) -> None:
    own, theirs, common = (
        store.save()["memory"]["id"],
        store.save(user="u2")["memory"]["id"],
        store.keep("Closed on Sundays").memory["id"],
    )
    bound = Store(store.workspace, caller(Role.OWNER, subject="u1"))
    assert bound.patch(own, {"confidence": 1})["action"] == "updated"
    assert bound.patch(theirs, {"confidence": 1}, status=403, user_id="u2")["code"] == "bound_to_a_user"
    assert bound.patch(common, {"confidence": 1}, status=403, user_id=None)["code"] == "bound_to_a_user"
    assert bound.forget(theirs, status=403, user_id="u2")["code"] == "bound_to_a_user"
    assert bound.open(theirs, status=403, user_id="u2")["code"] == "bound_to_a_user"
    bound.open(theirs, status=404)
    assert bound.recall(user=None)["total"] == 2


def test_a_memory_forgotten_while_its_edit_is_embedded_stays_forgotten() -> None:
    table = Meanwhile()
    with opened_store(embedder=table) as store:
        memory = store.save()["memory"]["id"]
        table.then = lambda: forget(memory, scope=store.scope(), now=datetime.now(UTC), actor=ACTOR)
        store.patch(memory, {"content": "Keeps bees"}, status=404)
        assert store.rows("content") == [{"content": "Lives in Lyon"}]
