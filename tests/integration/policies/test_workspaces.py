"""Editing workspaces: rows, service groups, and what a deletion takes along."""

from __future__ import annotations

from typing import Any

import pytest

from memories.models import Memory
from omnia.audit.models import AuditRow
from omnia.core.errors import Conflict, NotFound, PreconditionFailed, Unprocessable
from policies.models import ServiceGroup, Workspace
from policies.services.wire import etag, workspace_object
from policies.services.workspaces import (
    create_workspace,
    delete_workspace,
    patch_workspace,
    put_workspace,
    replace_workspace,
)
from tests.contract.policy_documents import NOW, bound, workspace
from tests.integration.policies.actors import OPERATOR

pytestmark = pytest.mark.django_db


def create(spec: dict[str, Any] | None = None) -> Workspace:
    return create_workspace(workspace(spec), actor=OPERATOR, now=NOW)


def replace(spec: dict[str, Any], **options: Any) -> Workspace:
    return replace_workspace("w", workspace(spec), actor=OPERATOR, now=NOW, **options)


def groups() -> dict[str, str]:
    return dict(ServiceGroup.objects.order_by("name").values_list("name", "policy_name"))


def test_the_service_groups_are_the_ones_the_document_declares() -> None:
    create({"services": [{"memory": {"policyRef": {"name": "basic"}}}, {"name": "batch"}]})
    assert groups() == {"batch": "", "default": "basic"}
    replace({"services": [{"name": "batch", "memory": {"policyRef": {"name": "research"}}}, {"name": "night"}]})
    assert groups() == {"batch": "research", "night": ""}
    replace({})
    assert groups() == {}


def test_a_name_is_taken_once() -> None:
    create()
    with pytest.raises(Conflict) as refusal:
        create()
    assert refusal.value.code == "workspace_exists"


def test_generations_tags_and_events() -> None:
    row = create({"displayName": "Team A"})
    assert (row.generation, row.display_name) == (1, "Team A")
    read = etag(row)
    assert replace({"displayName": "Team A"}, expected=read).generation == 1
    assert replace({"displayName": "Team B"}, expected=read).generation == 2
    with pytest.raises(PreconditionFailed):
        replace({"displayName": "Team C"}, expected=read)
    events = list(AuditRow.objects.order_by("id").values_list("event", "workspace_id", "metadata"))
    assert events == [
        (
            "workspace_created",
            row.uid,
            {"name": "w", "changes": [{"pointer": "/spec/displayName", "before": None, "after": "Team A"}]},
        ),
        (
            "workspace_changed",
            row.uid,
            {
                "name": "w",
                "generation": 2,
                "changes": [{"pointer": "/spec/displayName", "before": "Team A", "after": "Team B"}],
            },
        ),
    ]


def test_a_patch_keeps_the_rest() -> None:
    create({"displayName": "Team A", **bound("basic")})
    row = patch_workspace("w", {"spec": {"displayName": None}}, actor=OPERATOR, now=NOW)
    assert row.spec == bound("basic")
    with pytest.raises(Unprocessable):
        patch_workspace("w", {"spec": {"services": [{"name": "No"}]}}, actor=OPERATOR, now=NOW)


def test_put_says_what_it_came_to() -> None:
    outcomes = [put_workspace(workspace(spec), actor=OPERATOR, now=NOW)[1] for spec in ({}, {}, bound("basic"))]
    assert outcomes == ["created", "unchanged", "configured"]


def test_the_object_a_client_reads_can_be_written_back() -> None:
    read = workspace_object(create(bound("basic")))
    assert read["metadata"]["name"] == "w"
    assert replace_workspace("w", read, actor=OPERATOR, now=NOW).generation == 1


@pytest.mark.parametrize("name", ["nobody", "nul\x00", ""])
def test_what_does_not_exist_is_not_found(name: str) -> None:
    with pytest.raises(NotFound) as refusal:
        delete_workspace(name, actor=OPERATOR)
    assert refusal.value.code == "workspace_not_found"


def test_an_empty_workspace_is_deleted_without_a_word() -> None:
    create(bound("basic"))
    delete_workspace("w", actor=OPERATOR)
    assert not Workspace.objects.exists()
    assert groups() == {}


def test_a_workspace_with_memories_is_deleted_only_when_confirmed_and_then_with_them() -> None:
    row = create(bound("basic"))
    other = create_workspace(workspace(name="other"), actor=OPERATOR, now=NOW)
    for each in (row, other):
        Memory.objects.create(
            workspace=each,
            tier=2,
            user_id="u",
            type="fact",
            content="x",
            evidence_class="inferred",
            source_type="x",
            confidence=0.7,
        )
    with pytest.raises(Conflict) as refusal:
        delete_workspace("w", actor=OPERATOR)
    assert refusal.value.code == "workspace_not_empty"
    assert (Memory.objects.count(), groups()) == (2, {"default": "basic"})
    delete_workspace("w", actor=OPERATOR, confirmed=True)
    assert [each.workspace_id for each in Memory.objects.all()] == [other.uid]
    deleted = AuditRow.objects.get(event="workspace_deleted")
    went = [{"pointer": "/spec/services", "before": row.spec["services"], "after": None}]
    assert deleted.workspace_id == row.uid
    assert deleted.metadata == {"name": "w", "rows_removed": 1, "changes": went}
