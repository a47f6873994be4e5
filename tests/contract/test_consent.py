"""Consent: memories are kept only in categories a person agreed to (spec: consentRevocation; reference: Consent)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memories.domain.consent import CATEGORIES, SENSITIVE
from memories.management.privacy_double import PrivacyDouble
from memories.models import Revocation
from omnia.api.models import IdempotencyRecord
from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from omnia.core.edition import Edition
from tests.callers import caller
from tests.support import Meanwhile, Store, contents, opened_store, select

pytestmark = pytest.mark.django_db

HEALTH = "memory:health"
FREE = sorted(CATEGORIES - SENSITIVE)


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


@pytest.fixture
def people(settings: Any) -> Iterator[PrivacyDouble]:
    """The privacy service, which the store asks."""
    server = PrivacyDouble()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    settings.OMNIA = replace(settings.OMNIA, privacy_api_url=server.url)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def nobody_answers(settings: Any) -> None:
    """A privacy service that is away: nothing listens at its address."""
    settings.OMNIA = replace(settings.OMNIA, privacy_api_url="http://127.0.0.1:9")


def revoke(store: Store, category: str = HEALTH, *, user: str = "u1", status: int = 200) -> dict[str, Any]:
    body = {"userId": user, "category": category}
    return store.send("POST", "memories/consent-events", body, status=status, query={"workspace": str(store.workspace)})


# What a save needs


@pytest.mark.parametrize("category", sorted(CATEGORIES))
def test_without_a_privacy_service_everything_is_granted(store: Store, category: str) -> None:
    assert store.save("x", category=category)["memory"]["consent_category"] == category


@pytest.mark.parametrize("category", sorted(CATEGORIES))
def test_who_never_said_anything_has_granted_nothing_sensitive(
    store: Store, people: PrivacyDouble, category: str
) -> None:
    """Behaviour case 159."""
    store.save("x", category=category, status=403 if category in SENSITIVE else 201)


@pytest.mark.parametrize("category", sorted(SENSITIVE))
def test_a_grant_lets_a_sensitive_memory_in(store: Store, people: PrivacyDouble, category: str) -> None:
    people.put("u1", {"consentGrants": [category]})
    assert store.save("x", category=category)["action"] == "added"
    store.save("x", category=category, user="u2", status=403)


OPT_OUTS: list[dict[str, Any]] = [
    {"optOutAll": True},
    {"optOutWorkspaces": ["WORKSPACE"]},
    {"optOutWorkspaces": ["NAME"]},
    {"optOutAgents": ["a1"]},
]


@pytest.mark.parametrize("said", OPT_OUTS, ids=str)
@pytest.mark.parametrize("category", [None, "memory:context", HEALTH])
def test_an_opt_out_lets_nothing_in(
    store: Store, people: PrivacyDouble, said: dict[str, Any], category: str | None
) -> None:
    """Behaviour cases 151 and 159: whatever was granted besides, in the store or for this request."""
    names = {"WORKSPACE": str(store.workspace), "NAME": name_of(store)}
    spoken = {key: value if value is True else [names.get(each, each) for each in value] for key, value in said.items()}
    people.put("u1", spoken | {"consentGrants": sorted(CATEGORIES)})
    vouched = {"X-Consent-Grants": HEALTH}
    refused = store.save("x", agent="a1", category=category, headers=vouched, status=403)
    assert refused["code"] == "consent_denied"
    assert not store.rows("id")


def test_opting_out_of_one_agent_leaves_the_others(store: Store, people: PrivacyDouble) -> None:
    people.put("u1", {"optOutAgents": ["a1"], "optOutWorkspaces": ["another"]})
    store.save("x", agent="a2")
    store.save("x")


def test_a_refused_save_says_so_and_leaves_one_mark_without_its_text(store: Store, people: PrivacyDouble) -> None:
    """Behaviour cases 151 and 158; security case 293."""
    answer = store.client.post(
        "/api/v1/memories",
        {"scope": {"workspace_id": str(store.workspace), "user_id": "u1"}, "type": "fact", "content": "Has SECRETWORD",
         "category": HEALTH},
        content_type="application/json",
    )  # fmt: skip
    assert (answer.status_code, answer.json()["code"]) == (403, "consent_denied")
    decision = answer.headers["X-Consent-Decision"]
    assert decision.startswith(f"deny; category={HEALTH}; layer=persistent")
    assert "u1" not in decision
    assert b"SECRETWORD" not in answer.content
    [row] = AuditRow.objects.filter(event="memory_write_blocked")
    assert (row.reason, row.metadata) == ("not_granted", {"category": HEALTH})
    assert not store.rows("id")


@pytest.mark.usefixtures("nobody_answers")
def test_while_the_service_is_away_only_sensitive_memories_are_refused(store: Store) -> None:
    """Security case 294."""
    for category in (None, *FREE):
        store.save(f"x {category}", category=category)
    for category in sorted(SENSITIVE):
        assert store.save("x", category=category, status=503)["code"] == "consent_unavailable"
    assert AuditRow.objects.filter(event="memory_write_blocked").count() == len(SENSITIVE)


@pytest.mark.usefixtures("nobody_answers")
def test_the_shared_tiers_ask_nobody(store: Store) -> None:
    body = {"workspace_id": str(store.workspace), "type": "fact", "content": "x", "category": HEALTH}
    store.send("POST", "institutional/memories", body, status=201)
    store.send("POST", "agent-memories", body | {"agent_id": "a1"}, status=201)


def test_in_core_nobody_is_asked(settings: Any, people: PrivacyDouble) -> None:
    settings.OMNIA = replace(settings.OMNIA, edition=Edition.CORE)
    with opened_store() as store:
        store.save("Was diagnosed with diabetes", category="memory:identity")
        revoke(store, status=403)


# What the caller vouches for


VOUCHED = [
    # X-Consent-Grants, whether health is kept
    ("memory:identity,memory:health", True),
    (" memory:health ,", True),
    ("memory:identity", False),
    ("", False),
    ("health", False),
    ("*", False),
]


@pytest.mark.parametrize(("header", "kept"), VOUCHED)
def test_the_grants_of_a_request_stand_in_for_stored_ones(
    store: Store, people: PrivacyDouble, header: str, kept: bool
) -> None:
    """Behaviour case 157."""
    store.save("x", category=HEALTH, headers={"X-Consent-Grants": header}, status=201 if kept else 403)


def test_they_never_stand_in_for_what_was_taken_back(store: Store, people: PrivacyDouble) -> None:
    """A session that began before the revocation still vouches for the grant it once saw."""
    revoke(store)
    store.save("x", category=HEALTH, headers={"X-Consent-Grants": HEALTH}, status=403)


# What a text says


def test_a_sensitive_text_needs_the_grant_its_writer_did_not_mention(store: Store, people: PrivacyDouble) -> None:
    """Security case 298."""
    for category in (None, "memory:preferences"):
        store.save("Was diagnosed with diabetes", status=403, category=category)
    store.save("Sees someone weekly", metadata={"why": "psychotherapy"}, status=403)
    store.save("Sees someone weekly", title="Chemotherapy", status=403)
    people.put("u2", {"consentGrants": [HEALTH]})
    saved = store.save("Was diagnosed with diabetes", user="u2", category="memory:preferences")
    assert saved["memory"]["consent_category"] == HEALTH


def test_it_expires_as_its_category_does() -> None:
    policy = {"tiers": {"user": {"ttl": {"default": "100d"}, "perCategory": {HEALTH: {"ttl": {"default": "2d"}}}}}}
    with opened_store(policy=policy) as store:
        plain = store.save("Likes tea")["memory"]
        assert left(store.save("Has diabetes")["memory"]) == timedelta(days=2)
        assert left(plain) == timedelta(days=100)
        assert left(store.patch(plain["id"], {"content": "Likes insulin"})["memory"]) == timedelta(days=2)


def test_an_edit_and_a_superseding_text_need_it_too(store: Store, people: PrivacyDouble) -> None:
    one, two = (store.save(text)["memory"]["id"] for text in ("Likes tea", "Runs a bakery"))
    store.patch(one, {"content": "Takes insulin"}, status=403)
    store.patch(one, {"title": "Epilepsy"}, status=403)
    scope = {"workspace_id": str(store.workspace), "user_id": "u1"}
    body = {"source_ids": [one, two], "content": "Takes insulin", "scope": scope}
    store.send("POST", "memories/supersede", body, status=403)
    assert set(contents(store.browse())) == {"Likes tea", "Runs a bakery"}
    assert store.patch(one, {"confidence": 0.9})["action"] == "updated"


def test_in_a_batch_and_an_import_it_is_refused_alone(store: Store, people: PrivacyDouble) -> None:
    scope = {"workspace_id": str(store.workspace), "user_id": "u1"}
    items = [{"type": "fact", "content": text} for text in ("Likes tea", "Takes insulin", "Runs a bakery")]
    results = store.send("POST", "memories/batch", {"scope": scope, "items": items}, status=200)["results"]
    assert [each["status"] for each in results] == [201, 403, 201]
    imported = store.send("POST", "memories/import", {"scope": scope, "items": items}, status=200)
    assert [(each["index"], each["code"]) for each in imported["rejected"]] == [(1, "consent_denied")]


# Taking a consent back


ACTIONS = [
    # the policy's action (None: no policy), what is deleted at once
    (None, 1),
    ("SoftDelete", 1),
    ("HardDelete", 1),
    ("Stop", 0),
]


@pytest.mark.parametrize(("action", "deleted"), ACTIONS)
def test_the_action_of_the_policy_is_applied(action: str | None, deleted: int) -> None:
    """Behaviour case 145; security case 295: whatever the action, new writes in the category are refused."""
    policy = {"consentRevocation": {"action": action}} if action else None
    with opened_store(policy=policy) as store:
        store.save("Takes insulin")
        store.save("Likes tea")
        store.save("Takes insulin too", user="u2")
        assert revoke(store) == {"deleted": deleted}
        assert ("Takes insulin" in contents(store.browse())) is not bool(deleted)
        assert "Likes tea" in contents(store.browse())
        assert store.browse(user_id="u2")["total"] == 1
        assert store.save("Has diabetes", status=403)["code"] == "consent_denied"
        store.save("Has diabetes", user="u2")


def test_all_that_was_said_under_it_goes_whatever_the_agent(store: Store) -> None:
    """Security case 297: rows of every agent, trash, what other memories said before, and kept answers."""
    for agent in (None, "a1"):
        store.save("Takes insulin", agent=agent, headers={"Idempotency-Key": f"k{agent}"})
    store.forget(store.save("Has asthma")["memory"]["id"])
    key = {"kind": "user", "key": "habit"}
    store.save("Takes lithium tablets", about=key)
    kept = store.save("Likes tea", about=key)["memory"]["id"]
    assert revoke(store) == {"deleted": 3}
    everywhere = str(select("SELECT * FROM memories_memory")) + str(select("SELECT * FROM memories_wording"))
    assert not any(word in everywhere for word in ("insulin", "asthma", "lithium"))
    assert store.history(kept)["wordings"] == []
    assert not any(b"insulin" in bytes(record.body) for record in IdempotencyRecord.objects.all())


def test_a_newer_grant_lets_it_in_again(store: Store, people: PrivacyDouble) -> None:
    people.put("u1", {"consentGrants": [HEALTH]})
    store.save("Takes insulin")
    people.put("u1", {"consentGrants": []})
    revoke(store)
    store.save("Takes insulin", status=403)
    people.put("u2", {"consentGrants": [HEALTH]})
    Revocation.objects.create(workspace_id=store.workspace, user_id="u2", category=HEALTH,
                              revoked_at=datetime.now(UTC) - timedelta(hours=1))  # fmt: skip
    assert store.save("Takes insulin", user="u2")["action"] == "added"


def test_an_older_grant_does_not(store: Store, people: PrivacyDouble) -> None:
    people.put("u1", {"consentGrants": [HEALTH]})
    revoke(store)
    store.save("Takes insulin", status=403)


def test_a_grant_that_does_not_say_since_when_is_not_newer(store: Store, people: PrivacyDouble) -> None:
    revoke(store)
    people.put("u1", {"consentGrants": [HEALTH]})["updatedAt"] = None
    store.save("Takes insulin", status=403)


@pytest.mark.usefixtures("nobody_answers")
def test_a_revocation_carries_on_while_the_service_is_away(store: Store) -> None:
    store.keep("x", user="u1", about=None)
    assert revoke(store, "memory:context") == {"deleted": 0}
    assert store.save("x", category="memory:context", status=403)["code"] == "consent_denied"


def test_a_save_does_not_slip_past_it() -> None:
    """The person takes it back while the text is being embedded."""
    table = Meanwhile({})
    with opened_store(embedder=table) as store:
        table.then = lambda: revoke(store)
        store.save("Takes insulin", status=403)
        assert not store.rows("id")
        assert AuditRow.objects.filter(event="memory_write_blocked", reason="revoked").count() == 1


def test_twice_is_once_and_leaves_its_marks(store: Store) -> None:
    store.save("Takes insulin")
    assert [revoke(store)["deleted"], revoke(store)["deleted"]] == [1, 0]
    rows = AuditRow.objects.filter(event="memory_consent_prune").order_by("id")
    assert [row.metadata for row in rows] == [
        {"category": HEALTH, "action": "SoftDelete", "deleted": deleted} for deleted in (1, 0)
    ]
    assert Revocation.objects.count() == 1


BAD_EVENTS = [
    {}, {"userId": "u1"}, {"category": HEALTH}, {"userId": "", "category": HEALTH}, {"userId": " ", "category": HEALTH},
    {"userId": "u1", "category": "health"}, {"userId": "u1", "category": ""}, {"userId": ["u1"], "category": HEALTH},
    {"userId": None, "category": HEALTH}, {"userId": "u" * 254, "category": HEALTH},
]  # fmt: skip


@pytest.mark.parametrize("body", BAD_EVENTS, ids=str)
def test_an_event_that_names_nobody_or_nothing_is_refused(store: Store, body: dict[str, Any]) -> None:
    """Behaviour case 145: and nothing is deleted."""
    store.save("Takes insulin")
    store.send("POST", "memories/consent-events", body, status=400, query={"workspace": str(store.workspace)})
    assert store.browse()["total"] == 1
    assert not Revocation.objects.exists()


def test_an_event_names_its_workspace(store: Store) -> None:
    store.send("POST", "memories/consent-events", {"userId": "u1", "category": HEALTH}, status=400)


@pytest.mark.parametrize(("role", "status"), [(Role.VIEWER, 403), (Role.EDITOR, 403), (Role.OWNER, 200)])
def test_owners_post_events(store: Store, role: Role, status: int) -> None:
    revoke(replace(store, client=caller(role)), status=status)


def test_a_bound_token_speaks_for_its_user_only(store: Store) -> None:
    bound = replace(store, client=caller(Role.OWNER, subject="u1"))
    assert revoke(bound)["deleted"] == 0
    assert revoke(bound, user="u2", status=403)["code"] == "bound_to_a_user"


def test_another_workspace_keeps_its_own(store: Store) -> None:
    with opened_store() as other:
        other.save("Takes insulin")
        revoke(store)
        assert other.browse()["total"] == 1
        other.save("Has diabetes")


def name_of(store: Store) -> str:
    return str(select("SELECT name FROM policies_workspace WHERE uid = %s", store.workspace)[0]["name"])


def left(memory: dict[str, Any]) -> timedelta:
    """How long the memory lasts from now, in whole days."""
    span = datetime.fromisoformat(memory["expires_at"]) - datetime.now(UTC)
    return timedelta(days=round(span / timedelta(days=1)))
