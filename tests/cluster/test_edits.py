"""Edits through the API server: what is sent, what becomes of conflicts, refusals and outages."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from omnia.audit.models import AuditRow
from omnia.core.errors import Conflict, NotFound, PreconditionFailed, Unavailable, Unprocessable
from policies.models import MemoryPolicy, ServiceGroup, Workspace
from policies.services.edit import create_policy, delete_policy, patch_policy, put_policy, replace_policy
from policies.services.policy_rows import POLICIES
from policies.services.sync import ClusterMirror
from policies.services.wire import etag
from policies.services.workspaces import create_workspace, delete_workspace, patch_workspace
from tests.cluster.api import Api
from tests.cluster.fake_server import answer, reset
from tests.contract.policy_documents import NOW, bound, policy, workspace
from tests.integration.policies.actors import OPERATOR

pytestmark = [pytest.mark.django_db]


def create(spec: dict[str, Any] | None = None) -> MemoryPolicy:
    return create_policy(policy(spec), actor=OPERATOR, now=NOW)


def patch(change: dict[str, Any], **options: Any) -> MemoryPolicy:
    return patch_policy("p", {"spec": change}, actor=OPERATOR, now=NOW, **options)


def events() -> list[str]:
    return list(AuditRow.objects.order_by("id").values_list("event", flat=True))


def test_a_new_policy_is_the_clusters_and_the_row_at_once(in_cluster: Api) -> None:
    row = create({"gate": {}})
    held = in_cluster.get("p")
    assert (str(row.uid), row.resource_version) == (held["metadata"]["uid"], held["metadata"]["resourceVersion"])
    assert row.spec == held["spec"]
    assert row.phase == "Active"
    assert events() == ["policy_created"]


def test_an_edit_sends_the_changed_leaves_and_what_it_was_made_from(fake: Api, in_fake: None) -> None:
    row = create({"recall": {"maxRelatedPerMemory": 3, "graphExpansion": {"hops": 2}}, "write": {"maxBodyBytes": 9}})
    patch({"recall": {"graphExpansion": {"hops": 1}}, "write": None, "consentRevocation": {"action": "Stop"}})
    assert fake.fake
    [asked] = [each for each in fake.fake.asked if each.method == "PATCH"]
    assert asked.body == {
        "metadata": {"uid": str(row.uid), "resourceVersion": row.resource_version},
        "spec": {"recall": {"graphExpansion": {"hops": 1}}, "write": None, "consentRevocation": {"action": "Stop"}},
    }
    assert asked.headers["Content-Type"] == "application/merge-patch+json"
    assert asked.query == {"fieldManager": "omnia-memory", "fieldValidation": "Strict"}


def test_an_edit_keeps_what_others_wrote_since_in_fields_it_does_not_touch(in_cluster: Api) -> None:
    create({"write": {"maxBodyBytes": 9}})
    in_cluster.patch("p", {"spec": {"recall": {"maxRelatedPerMemory": 7}}})
    row = patch({"write": {"maxBodyBytes": 10}})
    assert row.generation == 3
    assert row.spec == {"tiers": {}, "write": {"maxBodyBytes": 10}, "recall": {"maxRelatedPerMemory": 7}}
    assert in_cluster.get("p")["spec"] == row.spec


def test_an_edit_of_what_has_changed_since_it_was_read_is_stale(in_cluster: Api) -> None:
    read = etag(create())
    in_cluster.patch("p", {"spec": {"recall": {"maxRelatedPerMemory": 7}}})
    with pytest.raises(PreconditionFailed) as refusal:
        patch({"recall": {"maxRelatedPerMemory": 8}}, expected=read)
    current = MemoryPolicy.objects.get()
    assert refusal.value.headers == {"ETag": etag(current)}
    assert current.spec["recall"] == {"maxRelatedPerMemory": 7}
    assert patch({"recall": {"maxRelatedPerMemory": 8}}, expected=etag(current)).generation == 3


def test_a_status_written_meanwhile_is_no_conflict(in_cluster: Api) -> None:
    row = create()
    ClusterMirror(POLICIES, in_cluster.cluster).keep(in_cluster.get("p"))
    assert in_cluster.get("p")["metadata"]["resourceVersion"] != row.resource_version
    assert patch({"recall": {"maxRelatedPerMemory": 8}}, expected=etag(row)).generation == 2


def test_an_edit_of_an_object_made_anew_under_the_name_is_stale(in_cluster: Api) -> None:
    read = etag(create())
    in_cluster.delete("p")
    in_cluster.create(policy())
    with pytest.raises(PreconditionFailed):
        patch({"recall": {"maxRelatedPerMemory": 8}}, expected=read)


def test_an_edit_of_an_object_that_is_gone_is_not_found(in_cluster: Api) -> None:
    create()
    in_cluster.delete("p")
    with pytest.raises(NotFound) as refusal:
        patch({"recall": {"maxRelatedPerMemory": 8}})
    assert refusal.value.code == "policy_not_found"


def test_an_object_that_keeps_moving_is_a_conflict(fake: Api, in_fake: None) -> None:
    create()
    assert fake.fake
    for _ in range(3):
        fake.fake.fault(answer(409, "Conflict"), when=lambda asked: asked.method == "PATCH")
    with pytest.raises(Conflict) as refusal:
        patch({"recall": {"maxRelatedPerMemory": 8}})
    assert refusal.value.code == "edit_conflict"


def test_a_name_taken_in_the_cluster_is_taken(in_cluster: Api) -> None:
    in_cluster.create(policy())
    with pytest.raises(Conflict) as refusal:
        create()
    assert refusal.value.code == "policy_exists"


def test_our_own_refusal_comes_first_and_asks_nobody(fake: Api, in_fake: None) -> None:
    with pytest.raises(Unprocessable):
        create({"recall": {"maxRelatedPerMemory": 51}})
    assert fake.fake
    assert fake.fake.asked == []


def test_what_the_cluster_refuses_is_told_with_its_reasons(fake: Api, in_fake: None) -> None:
    create()
    assert fake.fake
    stricter = copy.deepcopy(answer(422, "Invalid"))
    fake.fake.fault(stricter, when=lambda asked: asked.method == "PATCH")
    with pytest.raises(Unprocessable) as refusal:
        patch({"recall": {"maxRelatedPerMemory": 8}})
    assert refusal.value.code == "invalid_document"


@pytest.mark.parametrize("fault", [answer(500), answer(503), answer(401), answer(403), reset])
def test_an_edit_that_does_not_reach_the_cluster_changes_nothing(fault: Any, fake: Api, in_fake: None) -> None:
    create()
    assert fake.fake
    for _ in range(2):
        fake.fake.fault(fault, when=lambda asked: asked.method == "PATCH")
    with pytest.raises(Unavailable) as refusal:
        patch({"recall": {"maxRelatedPerMemory": 8}})
    assert refusal.value.code == "cluster_unavailable"
    assert MemoryPolicy.objects.get().spec == {"tiers": {}}
    assert events() == ["policy_created"]


def test_a_put_creates_replaces_or_leaves_as_it_is(in_cluster: Api) -> None:
    specs: list[dict[str, Any]] = [{}, {"gate": {}}, {"gate": {}}]
    put = [put_policy(policy(spec), actor=OPERATOR, now=NOW)[1] for spec in specs]
    assert put == ["created", "configured", "unchanged"]


def test_a_replaced_policy_loses_what_the_document_leaves_out(in_cluster: Api) -> None:
    create({"write": {"maxBodyBytes": 9}, "tiers": {"user": {"ttl": {"default": "9d"}}}})
    replace_policy("p", policy({"recall": {"maxRelatedPerMemory": 1}}), actor=OPERATOR, now=NOW)
    assert in_cluster.get("p")["spec"] == {"tiers": {}, "recall": {"maxRelatedPerMemory": 1}}


def test_a_deleted_policy_is_gone_from_the_cluster_and_from_here(in_cluster: Api) -> None:
    create()
    ClusterMirror(POLICIES, in_cluster.cluster).keep(in_cluster.get("p"))  # its status moved the version on
    delete_policy("p", actor=OPERATOR)
    assert not MemoryPolicy.objects.exists()
    with pytest.raises(Exception, match="404"):
        in_cluster.get("p")
    assert events()[-1] == "policy_deleted"


def test_a_workspace_is_the_clusters_too(in_cluster: Api) -> None:
    row = create_workspace(workspace(bound("p"), name="acme"), actor=OPERATOR, now=NOW)
    assert str(row.uid) == in_cluster.get("acme", plural="workspaces")["metadata"]["uid"]
    assert ServiceGroup.objects.get().policy_name == "p"
    patch_workspace("acme", {"spec": {"displayName": "Acme"}}, actor=OPERATOR, now=NOW)
    assert in_cluster.get("acme", plural="workspaces")["spec"]["displayName"] == "Acme"
    delete_workspace("acme", actor=OPERATOR)
    assert not Workspace.objects.exists()


def test_an_event_older_than_the_answer_to_an_edit_is_passed_over(in_cluster: Api) -> None:
    create()
    before = in_cluster.get("p")
    patch({"recall": {"maxRelatedPerMemory": 8}})
    ClusterMirror(POLICIES, in_cluster.cluster).keep(before)
    assert MemoryPolicy.objects.get().generation == 2


def test_the_loop_does_not_audit_what_was_edited_here(in_cluster: Api) -> None:
    create()
    made = in_cluster.get("p")
    MemoryPolicy.objects.all().delete()
    ClusterMirror(POLICIES, in_cluster.cluster).keep(made)  # the event was faster than the answer
    assert MemoryPolicy.objects.exists()
    assert events() == ["policy_created"]
