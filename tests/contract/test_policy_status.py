"""The spec's Status Fields: phase and conditions, and the checks behind PolicyValid and SchemaCoverage."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from policies.domain.conditions import Status, status_of
from tests.contract.policy_documents import NOW, admitted, nested, problems


def status(spec: dict[str, Any]) -> Status:
    return status_of(spec, generation=3, now=NOW)


def words(found: Status) -> dict[str, str]:
    return {each["type"]: each["status"] for each in found.conditions}


def test_a_minimal_policy_is_active() -> None:
    found = status(admitted({"tiers": {"user": {"ttl": {"default": "180d"}}}}))
    assert found.phase == "Active"
    assert [(each["type"], each["status"], each["reason"]) for each in found.conditions] == [
        ("PolicyValid", "True", "Valid"),
        ("SchemaCoverage", "True", "Covered"),
        ("WorkspacesResolved", "True", "NotApplicable"),
        ("Ready", "True", "Valid"),
    ]
    assert {each["observedGeneration"] for each in found.conditions} == {3}
    assert {each["lastTransitionTime"] for each in found.conditions} == {"2026-06-01T12:00:00Z"}


# --- PolicyValid --------------------------------------------------------------------------------

TTLS = [
    ("365d", "365d", None),
    ("365d", "366d", None),
    ("", "1d", None),
    ("400d", "", None),
    ("366d", "365d", "longer_than_max_age"),
    ("25h", "1d", "longer_than_max_age"),
    ("1s", "0s", "longer_than_max_age"),
]


@pytest.mark.parametrize(("default", "max_age", "code"), TTLS)
@pytest.mark.parametrize("holder", ["tiers.user", "tiers.agent", "tiers.user.perCategory.memory:health"])
def test_a_default_longer_than_max_age_is_admitted_and_then_invalid(
    holder: str, default: str, max_age: str, code: str | None
) -> None:
    spec = nested(f"{holder}.ttl", {"default": default, "maxAge": max_age})
    assert problems(spec) == {}
    found = status(spec)
    at = f"/spec/{holder.replace('.', '/')}/ttl/default"
    assert [(each.pointer, each.code) for each in found.problems] == ([(at, code)] if code else [])
    assert found.phase == ("Error" if code else "Active")


DURATIONS = [
    "tiers.user.ttl.default",
    "tiers.agent.ttl.maxAge",
    "recall.halfLife.agent",
    "consolidation.timeouts.functionCall",
]


@pytest.mark.parametrize("field", DURATIONS)
@pytest.mark.parametrize("text", ["36526d", "876601h", "9" * 400 + "d", "9" * 400 + "s"])
def test_a_duration_of_more_than_a_hundred_years_is_invalid(field: str, text: str) -> None:
    spec = nested(field, text)
    assert problems(spec) == {}
    (problem,) = status(spec).problems
    assert (problem.pointer, problem.code) == ("/spec/" + field.replace(".", "/"), "bad_duration")


@pytest.mark.parametrize("weight", ["11", "-1", "NaN", "heavy", None, 3])
def test_a_weight_outside_0_to_10_is_invalid_when_something_older_stored_it(weight: Any) -> None:
    (problem,) = status(nested("tierPrecedence.multiplicative.user", weight)).problems
    assert (problem.pointer, problem.code) == ("/spec/tierPrecedence/multiplicative/user", "out_of_range")


def test_an_invalid_policy_is_in_phase_error_and_says_where_and_why() -> None:
    found = status(nested("tiers.user.ttl", {"default": "2d", "maxAge": "1d"}))
    assert found.phase == "Error"
    assert words(found) == {
        "PolicyValid": "False",
        "SchemaCoverage": "True",
        "WorkspacesResolved": "True",
        "Ready": "False",
    }
    valid = found.conditions[0]
    assert valid["reason"] == "ValidationFailed"
    assert valid["message"] == "/spec/tiers/user/ttl/default must not be longer than maxAge"


# --- SchemaCoverage -----------------------------------------------------------------------------

COVERAGE: list[tuple[list[str], list[list[str]] | None, list[str]]] = [
    # configured tiers, allowedTiers of the declared types (None: no schema), uncovered
    (["institutional", "agent", "user"], None, []),
    ([], [["institutional"]], []),
    (["user"], [["institutional"]], ["user"]),
    (["user"], [["user"]], []),
    (["user"], [["user_for_agent"]], []),
    (["user"], [[]], []),
    (["user", "agent"], [["institutional"], ["user"]], ["agent"]),
    (["agent", "user"], [], ["agent", "user"]),
    (["institutional"], [["user", "agent", "user_for_agent"]], ["institutional"]),
]


@pytest.mark.parametrize(("tiers", "types", "uncovered"), COVERAGE)
def test_schema_coverage_warns_of_a_configured_tier_without_a_type(
    tiers: list[str], types: list[list[str]] | None, uncovered: list[str]
) -> None:
    spec: dict[str, Any] = {"tiers": {tier: {} for tier in tiers}}
    if types is not None:
        spec["schema"] = {"types": [{"name": f"t{n}", "allowedTiers": allowed} for n, allowed in enumerate(types)]}
    found = status(admitted(spec))
    coverage = next(each for each in found.conditions if each["type"] == "SchemaCoverage")
    assert coverage["status"] == ("False" if uncovered else "True")
    assert coverage["message"].endswith(", ".join(uncovered))
    assert (found.phase, words(found)["Ready"]) == ("Active", "True")


# --- Transitions --------------------------------------------------------------------------------


def test_a_condition_keeps_its_time_while_its_status_stays() -> None:
    first = status({"tiers": {}})
    later = NOW + timedelta(hours=1)
    broken = status_of(
        nested("tiers.user.ttl", {"default": "2d", "maxAge": "1d"}), generation=4, now=later, previous=first.conditions
    )
    times = {each["type"]: each["lastTransitionTime"] for each in broken.conditions}
    assert times == {
        "PolicyValid": "2026-06-01T13:00:00Z",
        "SchemaCoverage": "2026-06-01T12:00:00Z",
        "WorkspacesResolved": "2026-06-01T12:00:00Z",
        "Ready": "2026-06-01T13:00:00Z",
    }
