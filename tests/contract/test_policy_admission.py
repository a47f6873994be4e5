"""What a policy document must be before anything in it counts (security cases L, wire contract: Fine print)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from omnia.core.errors import FieldProblem
from policies.domain.admission import admit_policy, admit_workspace
from tests.contract.policy_documents import NOW, admitted, policy, problems, workspace


def refused(document: object) -> dict[str, str]:
    return {each.pointer: each.code for each in admit_policy(document, stored=None, now=NOW).problems}


# --- The object around the spec -----------------------------------------------------------------

DOCUMENTS = [
    ({}, {}),
    ({"apiVersion": "omnia.altairalabs.ai/v1"}, {"/apiVersion": "not_allowed"}),
    ({"apiVersion": None}, {"/apiVersion": "not_allowed"}),
    ({"kind": "Workspace"}, {"/kind": "not_allowed"}),
    ({"kind": ["MemoryPolicy"]}, {"/kind": "wrong_type"}),
    ({"metadata": None}, {"/metadata/name": "bad_format"}),
    ({"metadata": "p"}, {"/metadata": "wrong_type"}),
    ({"metadata": {}}, {"/metadata/name": "bad_format"}),
    ({"metadata": {"name": 7}}, {"/metadata/name": "bad_format"}),
    ({"metadata": {"name": "Bad_Name"}}, {"/metadata/name": "bad_format"}),
    ({"metadata": {"name": "a\n"}}, {"/metadata/name": "bad_format"}),
    ({"metadata": {"name": "x" * 254}}, {"/metadata/name": "bad_format"}),
    ({"metadata": {"name": "a/b"}}, {"/metadata/name": "bad_format"}),
    ({"metadata": {"name": "p", "namespace": "team-a"}}, {"/metadata/namespace": "unknown_field"}),
    ({"metadata": {"name": "p", "nmae": "q"}}, {"/metadata/nmae": "unknown_field"}),
    ({"metadata": {"name": "p", "labels": {"team": "a"}, "uid": "u", "generation": 4}}, {}),
    ({"spec": None}, {"/spec": "required"}),
    ({"spec": []}, {"/spec": "wrong_type"}),
    ({"spec": {}}, {"/spec/tiers": "required"}),
    ({"spec": {"tiers": None}}, {"/spec/tiers": "required"}),
    ({"spec": {"tiers": []}}, {"/spec/tiers": "wrong_type"}),
    ({"status": {"phase": "Bogus"}}, {}),
    ({"extra": 1}, {"/extra": "unknown_field"}),
]


@pytest.mark.parametrize(("changes", "expected"), DOCUMENTS)
def test_a_document_says_what_it_is(changes: dict[str, Any], expected: dict[str, str]) -> None:
    assert refused({**policy(), **changes}) == expected


@pytest.mark.parametrize("document", [None, [], "policy", 7, True, 1.5])
def test_only_an_object_is_a_document(document: object) -> None:
    assert refused(document) == {"": "wrong_type"}


@pytest.mark.parametrize("tiers", [{}, {"user": {}}, {"user": {"ttl": {}}}, {"user": {"perCategory": {}}}])
def test_tiers_are_required_but_may_be_empty(tiers: dict[str, Any]) -> None:
    assert problems({"tiers": tiers}) == {}


# --- Unknown fields, nulls, defaults ------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "pointer"),
    [
        ({"teirs": {}}, "/spec/teirs"),
        ({"tiers": {"user_for_agent": {}}}, "/spec/tiers/user_for_agent"),
        ({"tiers": {"user": {"mode": "TTL"}}}, "/spec/tiers/user/mode"),
        ({"recall": {"half_life": {}}}, "/spec/recall/half_life"),
        ({"schema": {"types": [{"name": "a", "tiers": []}]}}, "/spec/schema/types/0/tiers"),
        ({"gate": {"a/b~c": 1}}, "/spec/gate/a~1b~0c"),
    ],
)
def test_a_field_nobody_knows_is_an_error_at_its_place(spec: dict[str, Any], pointer: str) -> None:
    (problem,) = admit_policy(policy(spec), stored=None, now=NOW).problems
    assert (problem.pointer, problem.code) == (pointer, "unknown_field")
    assert problem.detail.startswith("is not a field here; the fields are: ")


def test_a_null_field_counts_as_left_out() -> None:
    spec: dict[str, Any] = {
        "recall": {"halfLife": None, "maxRelatedPerMemory": None},
        "gate": {"minDistinctSubjects": None},
        "x": None,
    }
    stored = admitted(spec)
    assert stored["recall"] == {}
    assert stored["gate"]["minDistinctSubjects"] == 2
    assert "x" not in stored


def test_a_null_in_a_list_is_refused() -> None:
    assert problems({"dedup": {"requireAboutForKinds": ["fact", None]}}) == {
        "/spec/dedup/requireAboutForKinds/1": "wrong_type"
    }


def test_defaults_are_written_inside_blocks_that_are_there_and_nowhere_else() -> None:
    assert admitted({}) == {"tiers": {}}
    assert admitted({"gate": {}})["gate"] == {
        "dedupThreshold": "0.95",
        "minDistinctSubjects": 2,
        "corroborationWindowDays": 30,
    }
    assert admitted({"ingestion": {"chunk": {"size": 100}}})["ingestion"] == {"chunk": {"size": 100, "overlap": 40}}
    assert "autoSupersedeAbove" not in admitted({"dedup": {"embeddingSimilarity": {}}})["dedup"]["embeddingSimilarity"]


def test_admitting_what_was_admitted_changes_nothing() -> None:
    spec: dict[str, Any] = {
        "gate": {},
        "recall": {"graphExpansion": {}},
        "tierPrecedence": {"multiplicative": {}},
        "consolidation": {},
    }
    once = admitted(spec)
    assert admitted(once) == once


def test_every_violated_rule_has_its_own_entry() -> None:
    spec = {
        "recall": {"maxRelatedPerMemory": 51, "graphExpansion": {"hops": 3, "maxAdded": 0}},
        "write": {"maxBodyBytes": "8 KiB"},
        "ingestion": {"chunk": {"size": 10, "overlap": 10}},
        "tierPrecedence": {},
        "unknown": 1,
    }
    assert problems(spec) == {
        "/spec/recall/maxRelatedPerMemory": "out_of_range",
        "/spec/recall/graphExpansion/hops": "out_of_range",
        "/spec/recall/graphExpansion/maxAdded": "out_of_range",
        "/spec/write/maxBodyBytes": "wrong_type",
        "/spec/ingestion/chunk/overlap": "rule_violated",
        "/spec/tierPrecedence": "rule_violated",
        "/spec/unknown": "unknown_field",
    }


# --- Ratcheting ---------------------------------------------------------------------------------


def test_an_update_need_not_put_right_what_it_does_not_touch() -> None:
    long_name = {"name": "a", "displayName": "x" * 300}
    stored = {"tiers": {}, "schema": {"types": [long_name, {"name": "b"}]}}
    moved = {"schema": {"types": [{"name": "b", "displayName": "B"}, long_name]}}
    assert problems(moved, stored=stored) == {}
    touched = {"schema": {"types": [{"name": "c", "displayName": "x" * 300}]}}
    assert problems(touched, stored=stored) == {"/spec/schema/types/0/displayName": "bad_length"}


def test_a_field_nobody_knows_is_refused_even_when_it_was_stored() -> None:
    assert problems({"old": 1}, stored={"tiers": {}, "old": 1}) == {"/spec/old": "unknown_field"}


# --- clearedAt ----------------------------------------------------------------------------------


def cleared(text: Any) -> dict[str, Any]:
    return {"gate": {"canaries": {"clearedAt": text}}}


CLEARED_AT = "/spec/gate/canaries/clearedAt"
MOMENTS = [
    ("2026-06-01T12:00:00Z", None),
    ("2026-06-01T12:02:00Z", None),
    ("2026-06-01T14:02:00+02:00", None),
    ("2026-06-01T11:59:59.123456789Z", None),
    ("2026-06-01T12:02:01Z", "too_far_ahead"),
    ("2026-06-01T14:02:01+02:00", "too_far_ahead"),
    ("9999-12-31T23:59:59Z", "too_far_ahead"),
    ("2026-06-01 12:00:00Z", "bad_format"),
    ("2026-06-01T12:00:00", "bad_format"),
    ("2026-06-01", "bad_format"),
    ("2026-02-30T12:00:00Z", "bad_format"),
    ("2026-06-01T12:00:60Z", "bad_format"),
    ("2026-06-01T12:00:00Z\n", "bad_format"),
    ("２026-06-01T12:00:00Z", "bad_format"),
    ("0001-01-01T00:00:00+14:00", "bad_format"),
    ("now", "bad_format"),
    ("", "bad_format"),
    (1_780_000_000, "wrong_type"),
]


@pytest.mark.parametrize(("text", "code"), MOMENTS)
def test_cleared_at_is_a_strict_moment_at_most_two_minutes_ahead(text: Any, code: str | None) -> None:
    assert problems(cleared(text)) == ({} if code is None else {CLEARED_AT: code})


def test_a_stored_moment_is_not_judged_again() -> None:
    ahead = (NOW + timedelta(hours=1)).isoformat()
    assert problems({**cleared(ahead), "write": {}}, stored={"tiers": {}, **cleared(ahead)}) == {}


# --- Texts the store cannot hold ----------------------------------------------------------------


@pytest.mark.parametrize("bad", ["\x00", "a\x00b", "\ud800"])
def test_nul_and_lone_surrogates_are_refused_wherever_they_stand(bad: str) -> None:
    assert problems({"toolGuidance": {"notes": bad}}) == {"/spec/toolGuidance/notes": "unstorable_text"}
    assert problems({"gate": {"allowedTerms": [bad + "xy"]}}) == {"/spec/gate/allowedTerms/0": "unstorable_text"}
    assert problems({"tiers": {"user": {"ttl": {"default": bad}}}}) == {
        "/spec/tiers/user/ttl/default": "unstorable_text"
    }
    assert problems({"tiers": {"user": {"perCategory": {bad: {}}}}}) == {
        "/spec/tiers/user/perCategory": "unstorable_text"
    }


# --- Messages -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "detail"),
    [
        ({"recall": {"maxRelatedPerMemory": 51}}, "must be a whole number from 0 to 50"),
        ({"gate": {"dedupThreshold": "2"}}, 'must be a decimal from 0 to 1 in quotes, such as "0.95"'),
        ({"toolGuidance": {"notes": "x" * 2001}}, "must be at most 2000 characters long"),
        ({"gate": {"allowedTerms": ["x"]}}, "must be 2 to 256 characters long"),
        ({"tiers": {"user": {"ttl": {"default": "1w"}}}}, "must be a duration such as 180d, 720h or 1d12h, or empty"),
        ({"gate": {"accept": {"dreaming": "yes"}}}, "must be true or false"),
        ({"dedup": {"embeddingSimilarity": {"autoSupersedeAbove": "0.5"}}}, "must be above 0.5"),
    ],
)
def test_a_message_says_what_is_allowed(spec: dict[str, Any], detail: str) -> None:
    (problem,) = admit_policy(policy(spec), stored=None, now=NOW).problems
    assert problem.detail == detail


# --- Workspaces ---------------------------------------------------------------------------------

WORKSPACES = [
    ({}, {}),
    ({"displayName": "Team A", "services": [], "roleBindings": [], "directGrants": []}, {}),
    ({"services": [{"memory": {}}]}, {}),
    ({"services": [{"name": "default", "memory": {"policyRef": {"name": "basic"}}}, {"name": "batch"}]}, {}),
    ({"services": [{}, {"name": "default"}]}, {"services/1": "duplicate"}),
    ({"services": [{"name": "Not OK"}]}, {"services/0/name": "bad_format"}),
    ({"services": [{"memory": {"policyRef": {}}}]}, {"services/0/memory/policyRef/name": "required"}),
    ({"services": [{"memory": {"policyRef": {"name": ""}}}]}, {"services/0/memory/policyRef/name": "bad_format"}),
    ({"roleBindings": [{"groups": ["staff"], "role": "viewer"}]}, {}),
    ({"roleBindings": [{"groups": ["staff"], "role": "platform-admin"}]}, {"roleBindings/0/role": "not_allowed"}),
    ({"roleBindings": [{"role": "viewer"}]}, {"roleBindings/0/groups": "required"}),
    ({"directGrants": [{"user": "ada", "role": "owner", "expires": "2027-01-01T00:00:00Z"}]}, {}),
    ({"directGrants": [{"user": "", "role": "owner"}]}, {"directGrants/0/user": "bad_length"}),
    ({"directGrants": [{"user": "ada", "role": "admin"}]}, {"directGrants/0/role": "not_allowed"}),
    ({"directGrants": [{"user": "ada", "role": "owner", "expires": "soon"}]}, {"directGrants/0/expires": "bad_format"}),
    ({"members": []}, {"members": "unknown_field"}),
]


@pytest.mark.parametrize(("spec", "expected"), WORKSPACES)
def test_a_workspace_document(spec: dict[str, Any], expected: dict[str, str]) -> None:
    found: tuple[FieldProblem, ...] = admit_workspace(workspace(spec), stored=None).problems
    assert {each.pointer: each.code for each in found} == {f"/spec/{key}": code for key, code in expected.items()}


def test_a_service_group_without_a_name_is_the_default_one() -> None:
    assert admit_workspace(workspace({"services": [{}]}), stored=None).spec == {"services": [{"name": "default"}]}
