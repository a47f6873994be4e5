"""A save, rule by rule, in the order the wire contract puts them (spec: write; design: Order of a save)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

import pytest
from django.db import OperationalError, connection

from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from omnia.audit.pseudonym import pseudonym
from policies.models import MemoryPolicy
from policies.services.resolve import clear_cache
from tests.support import Store, Table, contents, ids, opened_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


PROVENANCE = [
    # provenance sent, evidence_class, source_type, recall source weight
    ("user_requested", "explicit", "user_requested", 1.0),
    ("operator_curated", "curated", "operator_curated", 1.0),
    ("agent_extracted", "inferred", "conversation_extraction", 0.7),
    ("system_generated", "inferred", "system_generated", 0.5),
    (None, "inferred", "conversation_extraction", 0.7),
]


@pytest.mark.parametrize(("sent", "evidence_class", "source_type", "weight"), PROVENANCE)
def test_provenance_gives_evidence_class_source_type_and_weight(
    store: Store, sent: str | None, evidence_class: str, source_type: str, weight: float
) -> None:
    saved = store.save("Likes tea", provenance=sent)["memory"]
    [recalled] = store.recall("tea", explain=True)["memories"]
    assert (saved["evidence_class"], saved["source_type"]) == (evidence_class, source_type)
    assert recalled["explain"]["source_weight"] == weight


BODIES = [
    # maxBodyBytes of the policy (None: no policy), the body, whether it is kept
    (None, "a" * 8192, True),
    (None, "a" * 8193, False),
    (None, "é" * 4096, True),
    (None, "é" * 4096 + "a", False),
    (0, "a" * 8192, True),
    (0, "a" * 8193, False),
    (9, "日本語", True),
    (8, "日本語", False),
    (4, "😀", True),
    (3, "😀", False),
    (20_000, "a" * 20_000, True),
    (1_048_576, "ab " * 349_525 + "c", True),
    (1_048_576, "ab " * 349_525 + "cd", False),
]


@pytest.mark.parametrize(("limit", "body", "keeps"), BODIES, ids=range(len(BODIES)))
def test_a_body_over_max_body_bytes_is_rejected_never_truncated(limit: int | None, body: str, keeps: bool) -> None:
    policy = None if limit is None else {"write": {"maxBodyBytes": limit}}
    with opened_store(policy=policy) as store:
        answer = store.save(body, status=201 if keeps else 400)
        if keeps:
            assert answer["memory"]["content"] == body
            assert answer["memory"]["body_size_bytes"] == len(body.encode())
        else:
            assert answer["code"] == "body_too_large"
            assert answer["errors"][0]["pointer"] == "/content"
        assert len(store.rows()) == keeps


REQUIRED = [
    # the policy's kinds, the flag's kinds, type, whether it needs `about`
    ([], set(), "fact", False),
    (["preference"], set(), "preference", True),
    (["preference"], set(), "fact", False),
    ([], {"fact"}, "fact", True),
    (["preference"], {"fact"}, "fact", True),
    (["preference"], {"fact"}, "preference", True),
    (["preference"], {"fact"}, "general", False),
]


@pytest.mark.parametrize(("policy", "flag", "type_name", "needed"), REQUIRED)
def test_a_kind_named_by_policy_or_flag_needs_about(
    policy: list[str], flag: set[str], type_name: str, needed: bool, settings: Any
) -> None:
    settings.OMNIA = replace(settings.OMNIA, require_about_for_kinds=frozenset(flag))
    with opened_store(policy={"dedup": {"requireAboutForKinds": policy}}) as store:
        answer = store.save(type=type_name, status=400 if needed else 201)
        if needed:
            assert answer["code"] == "about_required"
            assert "about" in answer["detail"]
        assert store.save("With a key", type=type_name, about={"kind": "user", "key": "x"})["action"] == "added"


def test_without_the_policy_the_flags_kinds_still_need_about(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behaviour case 70: a policy that cannot be read costs its own list, never the flag's."""
    settings.OMNIA = replace(settings.OMNIA, require_about_for_kinds=frozenset({"fact"}))
    with opened_store(policy={"dedup": {"requireAboutForKinds": ["preference"]}}) as store:
        with monkeypatch.context() as outage:
            outage.setattr(MemoryPolicy.objects, "filter", unreachable)
            assert store.save(type="fact", status=400)["code"] == "about_required"
            assert store.save("Prefers tea", type="preference")["action"] == "added"
        clear_cache()
        assert store.save("Prefers milk", type="preference", status=400)["code"] == "about_required"


def unreachable(*_: object, **__: object) -> NoReturn:
    raise OperationalError("the database is away")


@pytest.mark.parametrize(("stated", "stored"), [(None, 0.7), (0, 0.0), (1, 1.0), (0.35, 0.35)])
def test_confidence_is_what_was_stated_else_0_7(store: Store, stated: float | None, stored: float) -> None:
    assert store.save(confidence=stated)["memory"]["confidence"] == stored


def test_what_the_server_owns_is_ignored(store: Store) -> None:
    forged: dict[str, Any] = {
        "id": "018f0000-0000-7000-8000-000000000000", "tier": "institutional", "evidence_count": 99,
        "evidence_class": "curated", "source_type": "gate", "sourceType": "document", "mutability": "immutable",
        "created_at": "2001-01-01T00:00:00Z", "updated_at": "2001-01-01T00:00:00Z", "deleted": True,
        "deleted_at": "2001-01-01T00:00:00Z", "retired_at": "2001-01-01T00:00:00Z", "access_count": 7,
        "superseded_by": "018f0000-0000-7000-8000-000000000000", "workspace_uid": "x", "embedding": [1, 2, 3],
    }  # fmt: skip
    memory = store.save(**forged)["memory"]
    assert memory["id"] != forged["id"]
    assert memory["tier"] == "user"
    assert (memory["evidence_class"], memory["source_type"], memory["mutability"]) == (
        "inferred", "conversation_extraction", "mutable",
    )  # fmt: skip
    assert memory["evidence_count"] == 1
    assert memory["created_at"] == memory["updated_at"] > "2026"
    assert ids(store.browse()) == [memory["id"]]
    assert "embedding" not in memory


def test_every_field_of_a_save_comes_back(store: Store) -> None:
    fields: dict[str, Any] = {
        "title": "Home", "summary": "Where they live", "metadata": {"k": "v", "Ω": "ü"}, "purpose": "support",
        "container": "project-1", "session_id": "s-1", "turn_range": [3, 7], "category": "memory:location",
        "confidence": 0.4, "about": {"kind": "user", "key": "city"},
    }  # fmt: skip
    sent = {**fields, "observed_at": "2026-01-31T10:00:00+05:30", "expires_at": "2999-01-01T00:00:00Z"}
    memory = store.save("Lives in Lyon", agent="a1", **sent)["memory"]
    fields["consent_category"] = fields.pop("category")
    shown = store.open(memory["id"], agent="a1")
    for name, value in fields.items():
        assert memory[name] == shown[name] == value
    assert memory["observed_at"] == "2026-01-31T04:30:00Z"
    assert memory["scope"] == {
        "workspace_id": str(store.workspace), "virtual_user_id": "u1", "agent_id": "a1",
    }  # fmt: skip


def test_when_it_was_observed_is_not_made_up(store: Store) -> None:
    """Field fault 133."""
    memory = store.save("Lives in Lyon")["memory"]
    assert "observed_at" not in memory
    assert "observed_at" not in store.open(memory["id"])
    assert store.rows("observed_at") == [{"observed_at": None}]


ZONES = ["Asia/Kolkata", "America/St_Johns", "Pacific/Kiritimati"]


@pytest.mark.parametrize("zone", ZONES)
def test_the_time_zone_of_the_server_makes_no_difference(store: Store, zone: str) -> None:
    """Field fault 131."""
    observed, expires = "2026-01-31T23:30:00+05:30", (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    here = store.save("Keeps bees", observed_at=observed, expires_at=expires)["memory"]
    with server_in(zone):
        there = store.save("Bakes bread", observed_at=observed, expires_at=expires)["memory"]
        assert there["observed_at"] == here["observed_at"] == "2026-01-31T18:00:00Z"
        assert there["expires_at"] == here["expires_at"]
        assert store.browse()["memories"] == [there, here]
        assert ids(store.recall("bees"))[0] == here["id"]


@contextmanager
def server_in(zone: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TZ", zone)
        time.tzset()
        try:
            yield
        finally:
            environment.undo()
            time.tzset()


@pytest.mark.parametrize("zone", ZONES)
def test_the_time_zone_of_the_database_makes_no_difference(zone: str) -> None:
    """Field fault 131: whatever the database is set to, a connection of ours speaks UTC."""
    ours = connection.copy()
    ours.settings_dict["OPTIONS"] |= {"options": f"-c timezone={zone}"}
    try:
        with ours.cursor() as cursor:
            cursor.execute("SELECT current_setting('timezone'), timestamptz '2026-01-31T23:30:00+05:30'")
            assert cursor.fetchone() == ("UTC", datetime(2026, 1, 31, 18, tzinfo=UTC))
    finally:
        ours.close()


def test_identity_in_metadata_is_inert_data(store: Store) -> None:
    memory = store.save(metadata={"user_id": "u2", "workspace_id": "x"})["memory"]
    assert memory["scope"]["virtual_user_id"] == "u1"
    assert memory["metadata"] == {"user_id": "u2", "workspace_id": "x"}
    assert store.recall(user="u2")["memories"] == []


def test_a_save_needs_a_user(store: Store) -> None:
    refused = store.save(user=None, agent="a1", status=400)
    assert refused["code"] == "user_required"
    assert not store.rows()


@pytest.mark.parametrize(("embedder", "status"), [(Table(fails=True), "pending"), (None, "none")])
def test_without_a_vector_a_memory_is_saved_and_found_by_its_words(embedder: Table | None, status: str) -> None:
    with opened_store(embedder=embedder, embeds=embedder is not None) as store:
        saved = store.save("Keeps bees")["memory"]
        [row] = store.rows()
        assert saved["embedding_status"] == status
        assert row["embedding"] is None
        assert (row["embed_after"] is not None) == (status == "pending")
        assert contents(store.recall("who keeps a bee")) == ["Keeps bees"]


def test_the_model_is_given_the_raw_text_once() -> None:
    table = Table()
    with opened_store(embedder=table) as store:
        store.save("Zürich, 東京\n🙂", title="Cities")
    assert table.asked == ["Cities\nZürich, 東京\n🙂"]


def test_a_key_answers_twice_and_stores_once(store: Store) -> None:
    key = {"Idempotency-Key": "k1"}
    first, again = store.save(headers=key), store.save(headers=key)
    assert again == first
    assert store.save("Another body", headers=key, status=422)["code"] == "idempotency_key_reused"
    assert len(store.rows()) == 1


EVENTS = [("memory_created", ""), ("memory_merged", "high_similarity"), ("memory_updated", "structured_key")]


def test_each_action_leaves_one_audit_row_without_content(store: Store) -> None:
    keyed: dict[str, Any] = {"about": {"kind": "user", "key": "city"}}
    store.save("SECRETWORD lives in Lyon")
    store.save("SECRETWORD lives in Lyon")
    store.save("SECRETWORD is from Rome", **keyed)
    store.save("SECRETWORD is from Oslo", **keyed)
    rows = list(AuditRow.objects.filter(workspace_id=store.workspace).order_by("id"))
    created, merged, updated = EVENTS
    assert [(row.event, row.reason) for row in rows] == [created, merged, created, updated]
    assert {row.subject_hash for row in rows} == {pseudonym("u1")}
    assert {row.actor for row in rows} == {"token:owner"}
    assert all(row.memory_id and row.request_id for row in rows)
    assert "SECRETWORD" not in str([row.__dict__ for row in rows])


@pytest.mark.parametrize("saves", [["Never kept"], ["Kept before", "Kept before!"]], ids=["added", "merged"])
def test_a_failing_write_leaves_neither_row_nor_audit(
    store: Store, saves: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("MARKER")

    for content in saves[:-1]:
        store.save(content)
    before = store.rows("content, updated_at, evidence_count"), AuditRow.objects.count()
    monkeypatch.setattr("memories.services.remember.record.record", fail)
    answer = store.save(saves[-1], status=500)
    assert "MARKER" not in str(answer)
    assert (store.rows("content, updated_at, evidence_count"), AuditRow.objects.count()) == before


ROLES = [(Role.VIEWER, 403), (Role.EDITOR, 201), (Role.OWNER, 201), (Role.PLATFORM_ADMIN, 201)]


@pytest.mark.parametrize(("role", "status"), ROLES)
def test_editors_and_above_save(role: Role, status: int) -> None:
    with opened_store(role=role) as store:
        store.save(status=status)
        assert len(store.rows()) == (status == 201)


def test_a_bound_token_saves_for_its_user_only() -> None:
    with opened_store(role=Role.EDITOR, subject="u1") as store:
        assert store.save(user=None)["memory"]["scope"]["virtual_user_id"] == "u1"
        assert store.save(user="u2", status=403)["code"] == "bound_to_a_user"
