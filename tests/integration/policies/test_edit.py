"""Editing policies: rows, generations, status, freshness and the audit trail."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from omnia.audit.models import AuditRow
from omnia.core.errors import Conflict, NotFound, PreconditionFailed, Unprocessable
from policies.models import MemoryPolicy
from policies.services.check import check_policy
from policies.services.edit import create_policy, delete_policy, patch_policy, put_policy, replace_policy
from policies.services.wire import etag, policy_object
from tests.contract.policy_documents import NOW, policy
from tests.integration.policies.actors import OPERATOR

pytestmark = pytest.mark.django_db

USER_TTL = {"tiers": {"user": {"ttl": {"default": "180d"}}}}
IMPOSSIBLE = {"tiers": {"user": {"ttl": {"default": "2d", "maxAge": "1d"}}}}


def create(spec: dict[str, Any] | None = None, name: str = "p") -> MemoryPolicy:
    return create_policy(policy(spec, name=name), actor=OPERATOR, now=NOW)


def replace(document: object, **options: Any) -> MemoryPolicy:
    return replace_policy("p", document, actor=OPERATOR, now=NOW + timedelta(hours=1), **options)


def events() -> list[tuple[str, dict[str, Any]]]:
    return list(AuditRow.objects.order_by("id").values_list("event", "metadata"))


def test_a_new_policy_is_active_at_generation_one() -> None:
    row = MemoryPolicy.objects.get(pk=create(USER_TTL).pk)
    assert (row.spec, row.last_valid_spec) == (USER_TTL, USER_TTL)
    assert (row.generation, row.observed_generation, row.phase) == (1, 1, "Active")
    assert (row.created_at, row.updated_at) == (NOW, NOW)
    came = [{"pointer": "/spec/tiers/user/ttl/default", "before": None, "after": "180d"}]
    assert events() == [("policy_created", {"policy": "p", "generation": 1, "phase": "Active", "changes": came})]


def test_a_name_is_taken_once() -> None:
    create()
    with pytest.raises(Conflict) as refusal:
        create()
    assert refusal.value.code == "policy_exists"


def test_a_refused_document_stores_nothing_and_lists_every_problem() -> None:
    with pytest.raises(Unprocessable) as refusal:
        create({"recall": {"maxRelatedPerMemory": 51}, "write": {"maxBodyBytes": -1}})
    assert refusal.value.code == "invalid_document"
    assert [each.pointer for each in refusal.value.errors] == [
        "/spec/recall/maxRelatedPerMemory",
        "/spec/write/maxBodyBytes",
    ]
    assert not MemoryPolicy.objects.exists()
    assert events() == []


def test_a_changed_spec_is_a_new_generation_and_the_audit_tells_before_and_after() -> None:
    create(USER_TTL)
    row = replace(policy({"write": {"maxBodyBytes": 100}, "tiers": {}}))
    row.refresh_from_db()
    assert (row.generation, row.observed_generation, row.updated_at) == (2, 2, NOW + timedelta(hours=1))
    assert row.created_at == NOW
    changes = [
        {"pointer": "/spec/tiers/user/ttl/default", "before": "180d", "after": None},
        {"pointer": "/spec/write/maxBodyBytes", "before": None, "after": 100},
    ]
    facts = {"policy": "p", "generation": 2, "phase": "Active", "changes": changes}
    assert events()[1:] == [("policy_changed", facts)]


def test_the_same_spec_is_the_same_generation_and_no_event() -> None:
    first = create({"gate": {}})
    row = replace(policy({"gate": {"minDistinctSubjects": 2}}))  # the default, written out
    row.refresh_from_db()
    assert (row.generation, row.updated_at) == (1, first.updated_at)
    assert len(events()) == 1


def test_an_invalid_spec_is_stored_in_phase_error_and_the_last_valid_one_is_kept() -> None:
    create(USER_TTL)
    row = replace(policy(IMPOSSIBLE))
    row.refresh_from_db()
    assert (row.phase, row.spec, row.last_valid_spec) == ("Error", IMPOSSIBLE, USER_TTL)
    assert row.conditions[0]["message"] == "/spec/tiers/user/ttl/default must not be longer than maxAge"
    row = replace(policy({"tiers": {}}))
    assert (row.phase, row.last_valid_spec) == ("Active", {"tiers": {}})


def test_a_stale_edit_is_refused_with_the_current_tag() -> None:
    read = etag(create(USER_TTL))
    current = etag(replace(policy(), expected=read))
    assert current == read.replace(":1", ":2")
    with pytest.raises(PreconditionFailed) as refusal:
        replace(policy(USER_TTL), expected=read)
    assert refusal.value.headers == {"ETag": current}
    with pytest.raises(PreconditionFailed):
        delete_policy("p", actor=OPERATOR, expected=read)
    assert MemoryPolicy.objects.get().generation == 2


def test_an_object_keeps_its_name() -> None:
    create()
    with pytest.raises(Unprocessable) as refusal:
        replace(policy(USER_TTL, name="q"))
    assert [each.pointer for each in refusal.value.errors] == ["/metadata/name"]


@pytest.mark.parametrize("name", ["nobody", "", "Not a name", "nul\x00", "\ud800", "x" * 300])
def test_what_does_not_exist_is_not_found(name: str) -> None:
    for edit in (replace_policy, patch_policy):
        with pytest.raises(NotFound):
            edit(name, policy(name="nobody"), actor=OPERATOR, now=NOW)
    with pytest.raises(NotFound):
        delete_policy(name, actor=OPERATOR)


def test_a_patch_changes_what_it_names_and_keeps_the_rest() -> None:
    schema = {"types": [{"name": "note"}], "version": "v1"}
    create({"schema": schema, "toolGuidance": {"notes": "Be brief."}, "write": {"maxBodyBytes": 100}})
    patch = {"spec": {"write": {"maxBodyBytes": 200}, "toolGuidance": {"notes": None}}}
    row = patch_policy("p", patch, actor=OPERATOR, now=NOW)
    assert row.spec == {"tiers": {}, "schema": schema, "toolGuidance": {}, "write": {"maxBodyBytes": 200}}


@pytest.mark.parametrize(
    "patch", [{"spec": None}, {"spec": {"tiers": None}}, {"metadata": {"name": "q"}}, {"kind": "X"}, {"x": 1}]
)
def test_a_patch_is_judged_by_what_it_leads_to(patch: dict[str, Any]) -> None:
    create(USER_TTL)
    with pytest.raises(Unprocessable):
        patch_policy("p", patch, actor=OPERATOR, now=NOW)
    assert MemoryPolicy.objects.get().spec == USER_TTL


def test_a_legacy_threshold_survives_an_edit_of_something_else() -> None:
    low = {"dedup": {"embeddingSimilarity": {"autoSupersedeAbove": "0.4"}}}
    create()
    MemoryPolicy.objects.update(spec={"tiers": {}, **low})
    assert replace(policy({**low, "write": {"maxBodyBytes": 100}})).generation == 2
    with pytest.raises(Unprocessable):
        replace(policy({"dedup": {"embeddingSimilarity": {"autoSupersedeAbove": "0.45"}}}))


def test_put_says_what_it_came_to() -> None:
    outcomes = [put_policy(policy(spec), actor=OPERATOR, now=NOW)[1] for spec in ({}, {}, USER_TTL)]
    assert outcomes == ["created", "unchanged", "configured"]


def test_a_deleted_policy_is_gone_and_audited() -> None:
    create(USER_TTL)
    delete_policy("p", actor=OPERATOR)
    assert not MemoryPolicy.objects.exists()
    went = [{"pointer": "/spec/tiers/user/ttl/default", "before": "180d", "after": None}]
    assert events()[1:] == [("policy_deleted", {"policy": "p", "generation": 1, "changes": went})]


def test_the_object_a_client_reads_can_be_written_back() -> None:
    row = create({"gate": {}, "schema": {"types": [{"name": "note"}]}})
    read = policy_object(row)
    assert read["status"]["phase"] == "Active"
    assert read["metadata"]["uid"] == str(row.uid)
    assert replace(read).generation == 1


# --- The dry run --------------------------------------------------------------------------------


def test_a_dry_run_says_what_an_edit_would_say_and_stores_nothing() -> None:
    assert check_policy(policy(USER_TTL), now=NOW).valid
    refused = check_policy(policy({"write": {"maxBodyBytes": -1}}), now=NOW)
    assert (refused.valid, [each.code for each in refused.errors], refused.conditions) == (False, ["out_of_range"], [])
    invalid = check_policy(policy(IMPOSSIBLE), now=NOW)
    assert (invalid.valid, [each.code for each in invalid.errors]) == (False, ["longer_than_max_age"])
    assert invalid.conditions[0]["status"] == "False"
    assert not MemoryPolicy.objects.exists()


def test_a_dry_run_judges_an_update_unless_it_is_told_otherwise() -> None:
    low = {"dedup": {"embeddingSimilarity": {"autoSupersedeAbove": "0.4"}}}
    create()
    MemoryPolicy.objects.update(spec={"tiers": {}, **low})
    assert check_policy(policy(low), now=NOW).valid
    assert not check_policy(policy(low), as_create=True, now=NOW).valid


@pytest.mark.parametrize("document", [None, [], {"metadata": {"name": "nul\x00"}}, {"metadata": {"name": ["p"]}}])
def test_a_dry_run_takes_anything(document: object) -> None:
    assert not check_policy(document, now=NOW).valid
