"""GET /memories/aggregate: counts of what is live, never content (behaviour N 161, 162)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from memories.domain.aggregation import GroupBy, Metric
from omnia.api.principal import Role
from omnia.core.edition import Edition
from tests.callers import caller
from tests.support import Store, opened_store, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    policy = {"dedup": {"embeddingSimilarity": {"enabled": False}}}
    with opened_store(policy=policy) as opened:
        opened.keep("one", user="u1", category="memory:context")
        opened.keep("two", user="u1", agent="a1", category="memory:context", type="preference")
        opened.keep("three", user="u2", agent="a1")
        opened.keep("four", agent="a2")
        opened.keep("five")
        yield opened


def counted(store: Store, *, status: int = 200, **query: Any) -> Any:
    given = {"workspace": str(store.workspace)} | query
    answer = store.client.get("/api/v1/memories/aggregate", given)
    assert answer.status_code == status, answer.content
    return answer.json()


def pairs(answer: Any) -> list[tuple[str, int, int]]:
    return [(each["key"], each["value"], each["count"]) for each in answer]


SEEDED = [
    # groupBy, metric, the groups: key, value, count
    ("category", "count", [("uncategorized", 3, 3), ("memory:context", 2, 2)]),
    ("agent", "count", [("a1", 2, 2), ("a2", 1, 1)]),
    ("agent", "distinct_users", [("a1", 2, 2), ("a2", 0, 1)]),
    ("tier", "count", [("user_for_agent", 2, 2), ("agent", 1, 1), ("institutional", 1, 1), ("user", 1, 1)]),
    ("tier", "distinct_users", [("user_for_agent", 2, 2), ("user", 1, 1), ("agent", 0, 1), ("institutional", 0, 1)]),
    ("type", "count", [("fact", 4, 4), ("preference", 1, 1)]),
]


@pytest.mark.parametrize(("group_by", "metric", "groups"), SEEDED)
def test_memories_are_counted_by(store: Store, group_by: str, metric: str, groups: list[tuple[str, int, int]]) -> None:
    assert pairs(counted(store, groupBy=group_by, metric=metric)) == groups


def test_days_are_in_their_order(store: Store) -> None:
    run("UPDATE memories_memory SET created_at = '2026-01-31T23:59:59Z' WHERE content = 'one'")
    run("UPDATE memories_memory SET created_at = '2026-02-01T00:00:00Z' WHERE content IN ('two', 'three')")
    run("UPDATE memories_memory SET created_at = '2026-02-02T12:00:00Z' WHERE content IN ('four', 'five')")
    days = [("2026-01-31", 1, 1), ("2026-02-01", 2, 2), ("2026-02-02", 2, 2)]
    assert pairs(counted(store, groupBy="day")) == days
    bounds: dict[str, Any] = {"from": "2026-02-01T00:00:00Z", "to": "2026-02-02T12:00:00Z"}
    assert pairs(counted(store, **{"groupBy": "day", **bounds})) == days[1:2]


def test_a_limit_keeps_the_largest(store: Store) -> None:
    assert pairs(counted(store, groupBy="category", limit=1)) == [("uncategorized", 3, 3)]


BAD: list[dict[str, Any]] = [
    {}, {"groupBy": "user"}, {"groupBy": ""}, {"groupBy": "Tier"}, {"groupBy": "tier", "metric": "sum"},
    {"groupBy": "tier", "from": "2026-01-31"}, {"groupBy": "tier", "to": "x"}, {"groupBy": "tier", "limit": 0},
    {"groupBy": "tier", "limit": 1001}, {"groupBy": "tier", "user_id": "u1"}, {"groupBy": "tier; DROP TABLE x"},
]  # fmt: skip


@pytest.mark.parametrize("query", BAD, ids=str)
def test_a_bad_question_is_refused_with_what_is_allowed(store: Store, query: dict[str, Any]) -> None:
    """Behaviour case 162; the wire contract refuses a limit outside its range rather than clamp it."""
    refused = counted(store, status=400, **query)
    if query.get("groupBy", "")[:4] != "tier":
        assert "category, agent, day, tier, type" in refused["detail"]
    assert counted(store, status=400, groupBy="tier", workspace="")["code"] == "workspace_required"


def test_what_is_gone_is_not_counted(store: Store) -> None:
    run("UPDATE memories_memory SET expires_at = now() - interval '1 s' WHERE content = 'one'")
    run("UPDATE memories_memory SET retired_at = now(), retired_as = 'forgotten' WHERE content = 'two'")
    assert pairs(counted(store, groupBy="category")) == [("uncategorized", 3, 3)]


def test_another_workspace_is_not_counted(store: Store) -> None:
    with opened_store() as other:
        assert counted(other, groupBy="tier") == []
        stranger = replace(store, client=caller(Role.OWNER, workspaces=frozenset({other.workspace})))
        counted(stranger, status=404, groupBy="tier")


def test_a_bound_token_counts_its_users(store: Store) -> None:
    bound = replace(store, client=caller(Role.VIEWER, subject="u1"))
    assert pairs(counted(bound, groupBy="tier")) == [("user", 1, 1), ("user_for_agent", 1, 1)]


@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("group_by", list(GroupBy))
def test_nobody_is_named(store: Store, group_by: GroupBy, metric: Metric) -> None:
    answer = counted(store, groupBy=group_by.value, metric=metric.value)
    assert answer
    assert not {"u1", "u2", "one", "two"} & {each["key"] for each in answer}
    assert all(set(each) == {"key", "value", "count"} for each in answer)


def test_a_viewer_counts_and_a_stranger_does_not(store: Store) -> None:
    assert counted(replace(store, client=caller(Role.VIEWER)), groupBy="tier")
    counted(replace(store, client=Client()), status=401, groupBy="tier")


def test_core_has_none(store: Store, settings: Any) -> None:
    settings.OMNIA = replace(settings.OMNIA, edition=Edition.CORE)
    assert counted(store, status=403, groupBy="tier")["code"] == "enterprise_required"


def test_days_are_utc(store: Store) -> None:
    now = datetime.now(UTC)
    assert {each["key"] for each in counted(store, groupBy="day")} <= {
        f"{now - timedelta(minutes=1):%Y-%m-%d}",
        f"{now:%Y-%m-%d}",
    }
