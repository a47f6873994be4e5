"""The rows follow the cluster: what is there, what changed, what is gone, and nothing while it is away."""

from __future__ import annotations

from functools import partial

import pytest
from django.db import connection

from omnia.audit.models import AuditRow
from omnia.db import lock_key
from policies.kube import watcher
from policies.models import MemoryPolicy, ServiceGroup, Workspace
from policies.services import sync
from policies.services.policy_rows import POLICIES
from policies.services.resolve import policy_for
from policies.services.workspace_rows import WORKSPACES
from tests.cluster.api import Api
from tests.cluster.conftest import Follow
from tests.cluster.fake_server import answer, hang, reset
from tests.cluster.waiting import eventually
from tests.contract.policy_documents import bound, policy, workspace
from tests.support import run

pytestmark = pytest.mark.django_db(transaction=True)

IMPOSSIBLE = {"tiers": {"user": {"ttl": {"default": "9d", "maxAge": "1d"}}}}


def row(name: str = "p") -> MemoryPolicy | None:
    return MemoryPolicy.objects.filter(name=name).first()


def reached(api: Api, name: str, generation: int) -> bool:
    return bool(api.get(name).get("status", {}).get("observedGeneration") == generation)


def statuses(api: Api) -> int:
    assert api.fake
    return sum(each.path.endswith("/status") for each in api.fake.asked)


def test_behaviour_183_a_policy_becomes_a_row_and_gets_its_status(api: Api, following: Follow) -> None:
    made = api.create(policy({"recall": {"maxRelatedPerMemory": 7}}))
    following(POLICIES, api)
    eventually(lambda: reached(api, "p", 1))
    kept, shown = row(), api.get("p")["status"]
    assert kept
    assert (str(kept.uid), kept.generation, kept.spec) == (made["metadata"]["uid"], 1, made["spec"])
    assert shown["phase"] == "Active"
    assert {each["type"]: (each["status"], each["reason"]) for each in shown["conditions"]} == {
        "PolicyValid": ("True", "Valid"),
        "SchemaCoverage": ("True", "Covered"),
        "WorkspacesResolved": ("True", "NotApplicable"),
        "Ready": ("True", "Valid"),
    }


def test_an_invalid_policy_shows_error_and_the_last_valid_one_stays_in_force(api: Api, following: Follow) -> None:
    api.create(policy({"tiers": {"user": {"ttl": {"default": "9d"}}}}))
    following(POLICIES, api)
    eventually(lambda: reached(api, "p", 1))
    api.patch("p", {"spec": IMPOSSIBLE})
    eventually(lambda: reached(api, "p", 2))
    kept, shown = row(), api.get("p")["status"]
    assert kept
    assert kept.last_valid_spec == {"tiers": {"user": {"ttl": {"default": "9d"}}}}
    assert shown["phase"] == "Error"
    assert [each["reason"] for each in shown["conditions"] if each["type"] == "PolicyValid"] == ["ValidationFailed"]


def test_a_status_is_written_once_per_change(fake: Api, following: Follow) -> None:
    fake.create(policy())
    following(POLICIES, fake)
    eventually(lambda: reached(fake, "p", 1))
    fake.patch("p", {"metadata": {"labels": {"team": "a"}}, "spec": IMPOSSIBLE})
    eventually(lambda: reached(fake, "p", 2))
    fake.create(policy(name="last"))
    eventually(lambda: reached(fake, "last", 1))
    assert statuses(fake) == 3


def test_a_status_somebody_else_wrote_is_put_right(fake: Api, following: Follow) -> None:
    fake.create(policy())
    following(POLICIES, fake)
    eventually(lambda: reached(fake, "p", 1))
    assert fake.fake
    fake.fake.cluster.patch("memorypolicies", "p", {"status": {"phase": "Error"}}, manager="x", status=True)
    eventually(lambda: fake.get("p")["status"]["phase"] == "Active")


def test_what_kubectl_does_reaches_a_workspace_and_its_policy(api: Api, following: Follow) -> None:
    api.create(policy({"write": {"maxBodyBytes": 100}}))
    made = api.create(workspace(bound("p"), name="acme"), plural="workspaces")
    following(POLICIES, api)
    following(WORKSPACES, api)
    eventually(lambda: row() and ServiceGroup.objects.filter(policy_name="p").exists())
    kept = Workspace.objects.get()
    assert (str(kept.uid), kept.name) == (made["metadata"]["uid"], "acme")
    assert policy_for(kept.uid, service_group="default").max_body_bytes == 100


def test_an_edit_with_kubectl_is_audited_with_the_program_that_made_it(api: Api, following: Follow) -> None:
    api.create(policy())
    following(POLICIES, api)
    eventually(row)
    api.patch("p", {"spec": {"write": {"maxBodyBytes": 100}}})
    eventually(lambda: AuditRow.objects.filter(event="policy_changed").exists())
    entry = AuditRow.objects.get(event="policy_changed")
    facts = {"policy": "p", "generation": 2, "phase": "Active", "managers": ["kubectl-edit"]}
    changes = [{"pointer": "/spec/write/maxBodyBytes", "before": None, "after": 100}]
    assert (entry.actor, entry.metadata) == ("system:sync_policies", {**facts, "changes": changes})


def test_a_deleted_policy_is_gone(api: Api, following: Follow) -> None:
    api.create(policy())
    following(POLICIES, api)
    eventually(row)
    api.delete("p")
    eventually(lambda: row() is None)
    assert AuditRow.objects.filter(event="policy_deleted").exists()


def test_a_stream_that_ends_is_resumed_without_a_list(fake: Api, following: Follow) -> None:
    following(POLICIES, fake)
    assert fake.fake
    for number in range(3):
        fake.create(policy(name=f"p{number}"))
        eventually(partial(row, f"p{number}"))
        fake.fake.cluster.end_watches()
    assert sum(each.method == "GET" and "limit" in each.query for each in fake.fake.asked) == 1


def test_after_410_it_lists_again_and_what_is_gone_is_gone(fake: Api, following: Follow) -> None:
    for name in ("a", "b"):
        fake.create(policy(name=name))
    following(POLICIES, fake)
    eventually(lambda: reached(fake, "a", 1) and reached(fake, "b", 1))
    assert fake.fake
    fake.fake.cluster.vanish("memorypolicies", "a")
    fake.fake.cluster.end_watches()
    eventually(lambda: row("a") is None)
    assert row("b")


def test_more_objects_than_one_page_are_all_taken_over(
    fake: Api, following: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policies.kube.client._PAGE", 2)
    for number in range(5):
        fake.create(policy(name=f"p{number}"))
    following(POLICIES, fake)
    eventually(lambda: MemoryPolicy.objects.count() == 5)


def test_while_the_server_is_away_the_last_known_policy_stays(
    fake: Api, following: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "SHORTEST_PAUSE", 0.02)
    fake.create(policy())
    following(POLICIES, fake)
    eventually(lambda: reached(fake, "p", 1))
    assert fake.fake
    for each in (*map(answer, (500, 503, 403, 429)), reset):
        fake.fake.fault(each, when=lambda asked: asked.watches)
    fake.fake.cluster.end_watches()
    eventually(lambda: not fake.fake or not fake.fake.faults)
    assert row()
    fake.create(policy(name="later"))
    eventually(lambda: row("later"))


def test_a_list_that_cannot_be_had_deletes_nothing(fake: Api, following: Follow) -> None:
    """The resource itself may be gone for a moment, with the 404 of an upgrade."""
    MemoryPolicy.objects.create(name="p", spec={"tiers": {}}, phase="Active", resource_version="7")
    assert fake.fake
    fake.fake.fault(answer(404), when=lambda asked: "limit" in asked.query)
    fake.fake.fault(answer(500), when=lambda asked: asked.path.endswith("/p"))
    following(POLICIES, fake)
    eventually(lambda: fake.fake and not fake.fake.faults)
    assert row()
    eventually(lambda: row() is None)  # once the server says of it, by name, that it is not there


def test_a_silent_server_does_not_hold_it_for_ever(
    fake: Api, following: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policies.kube.client.SILENCE_SECONDS", 0.3)
    assert fake.fake
    fake.fake.fault(hang(3), when=lambda asked: asked.watches)
    following(POLICIES, fake)
    eventually(lambda: fake.fake and not fake.fake.faults)
    fake.create(policy())
    eventually(row, within=2.5)


def test_rows_made_without_the_cluster_stay(fake: Api, following: Follow) -> None:
    MemoryPolicy.objects.create(name="own", spec={"tiers": {}}, phase="Active")
    fake.create(policy())
    following(POLICIES, fake)
    eventually(lambda: reached(fake, "p", 1))
    assert row("own")


def test_an_object_that_cannot_be_stored_does_not_hold_up_the_others(fake: Api, following: Follow) -> None:
    assert fake.fake
    for name in ("bad", "good"):
        fake.create(policy(name=name))
    fake.fake.cluster.objects["memorypolicies", "bad"]["spec"]["nul"] = "\x00"
    following(POLICIES, fake)
    eventually(lambda: row("good"))
    assert row("bad") is None


def test_a_workspace_made_anew_under_its_name_does_not_inherit_the_memories(api: Api, following: Follow) -> None:
    api.create(workspace(bound("p"), name="acme"), plural="workspaces")
    following(WORKSPACES, api)
    eventually(Workspace.objects.exists)
    old = Workspace.objects.get().uid
    run(
        """INSERT INTO memories_memory (id, workspace_id, tier, type, content, metadata, evidence_class, source_type,
            mutability, confidence, evidence_count, created_at, updated_at, access_count, embed_attempts)
        VALUES (uuidv7(), %s, 0, 'fact', 'x', '{}', 'inferred', 'conversation_extraction', 'mutable', 0.7, 1,
            now(), now(), 0, 0)""",
        old,
    )
    api.delete("acme", plural="workspaces")
    eventually(lambda: Workspace.objects.get().name == f"deleted-{old}")
    assert not ServiceGroup.objects.exists()
    api.create(workspace({}, name="acme"), plural="workspaces")
    eventually(lambda: Workspace.objects.filter(name="acme").exists())
    assert Workspace.objects.get(name="acme").uid != old


def test_only_who_holds_the_lock_follows(fake: Api, following: Follow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "ELECTION_SECONDS", 0.05)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [lock_key("sync", "memorypolicies")])
    following(POLICIES, fake)
    fake.create(policy())
    assert fake.fake
    assert not any(each.method == "GET" for each in fake.fake.asked)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock(%s)", [lock_key("sync", "memorypolicies")])
    eventually(row)


def test_a_lost_database_connection_is_a_new_election(
    fake: Api, following: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync, "DATABASE_PAUSE_SECONDS", 0.05)
    following(POLICIES, fake)
    fake.create(policy(name="first"))
    eventually(lambda: row("first"))
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
            WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database()"""
        )
    fake.create(policy(name="second"))
    eventually(lambda: row("second"))
