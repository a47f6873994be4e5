"""The tier a save resolves to, and the types it may hold (spec: How the schema is enforced)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from omnia.core.errors import BadInput
from tests.support import Store, opened_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


Owner = tuple[str | None, str | None]
TIERS = [
    # user and agent, the tier the scope resolves to
    (("u1", "a1"), "user_for_agent"),
    (("u1", None), "user"),
    ((None, "a1"), "agent"),
    ((None, None), "institutional"),
]


@pytest.mark.parametrize(("owner", "tier"), TIERS)
def test_the_tier_follows_from_the_scope(store: Store, owner: Owner, tier: str) -> None:
    memory = store.keep("Keeps bees", user=owner[0], agent=owner[1]).memory
    [row] = store.rows()
    assert memory["tier"] == tier
    assert (row["user_id"], row["agent_id"]) == owner


SCHEMA = {
    "schema": {
        "version": "v2",
        "types": [
            {"name": "policy", "allowedTiers": ["institutional"]},
            {"name": "note"},
            {"name": "habit", "allowedTiers": ["user"]},
            {"name": "fact", "allowedTiers": ["institutional", "agent", "user", "user_for_agent"]},
        ],
    }
}
ALL = {"institutional", "agent", "user", "user_for_agent"}
PERSONAL = ALL - {"institutional"}
VOCABULARY: list[tuple[dict[str, Any] | None, str, set[str]]] = [
    # the policy, type, the tiers a save of that type may resolve to
    (None, "document", {"institutional"}),
    (None, "section", {"institutional"}),
    (None, "chunk", {"institutional"}),
    (None, "general", ALL),
    (None, "fact", ALL),
    (None, "preference", PERSONAL),
    (None, "observation", PERSONAL),
    (None, "temporal_summary", PERSONAL),
    (None, "policy", set()),
    (SCHEMA, "policy", {"institutional"}),
    (SCHEMA, "note", ALL),
    (SCHEMA, "habit", {"user"}),
    (SCHEMA, "fact", ALL),
    # a declared schema replaces the built-in one
    (SCHEMA, "preference", set()),
    (SCHEMA, "general", set()),
]


@pytest.mark.parametrize(("owner", "tier"), TIERS)
@pytest.mark.parametrize(("policy", "type_name", "allowed"), VOCABULARY)
def test_a_type_is_declared_and_allowed_in_the_tier(
    policy: dict[str, Any] | None, type_name: str, allowed: set[str], owner: Owner, tier: str
) -> None:
    with opened_store(policy=policy) as store:
        saved = partial(store.keep, "Keeps bees", user=owner[0], agent=owner[1], type=type_name)
        if tier in allowed:
            assert saved().memory["tier"] == tier
            return
        with pytest.raises(BadInput) as refused:
            saved()
        assert refused.value.code == ("tier_not_allowed" if allowed else "type_not_declared")
        assert not store.rows()


def test_a_schema_violation_answers_400_naming_the_rule() -> None:
    with opened_store(policy=SCHEMA) as store:
        assert store.save(type="preference", status=400)["code"] == "type_not_declared"
        refused = store.save(type="habit", agent="a1", status=400)
        assert refused["code"] == "tier_not_allowed"
        assert "user_for_agent" in refused["detail"]
