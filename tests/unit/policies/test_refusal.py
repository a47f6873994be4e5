"""An API server's refusals, as the pointers and problems of our own."""

from __future__ import annotations

from typing import Any

import pytest

from policies.kube.refusal import problems_of

FIELDS = [
    ("spec.recall.maxRelatedPerMemory", "/spec/recall/maxRelatedPerMemory"),
    ("spec.schema.types[0].name", "/spec/schema/types/0/name"),
    (
        "spec.tiers.user.perCategory[memory:health].ttl.default",
        "/spec/tiers/user/perCategory/memory:health/ttl/default",
    ),
    ("spec.map[a/b~c]", "/spec/map/a~1b~0c"),
    ("spec", "/spec"),
]


@pytest.mark.parametrize(("field", "pointer"), FIELDS)
def test_a_field_path_becomes_a_pointer(field: str, pointer: str) -> None:
    [problem] = problems_of({"details": {"causes": [{"field": field, "message": "too large"}]}})
    assert (problem.pointer, problem.code, problem.detail) == (pointer, "refused_by_cluster", "too large")


@pytest.mark.parametrize(
    "status", [{}, {"details": None}, {"details": {}}, {"details": {"causes": [{"message": "x"}]}}]
)
def test_a_refusal_without_a_field_has_no_problem(status: dict[str, Any]) -> None:
    assert problems_of(status) == ()
