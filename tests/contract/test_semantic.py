"""POST /memories/retrieve/semantic: the search over every tier, and a filter that fails closed (behaviour H 113)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import REGISTRY

from memories.domain.deny import LONGEST, LONGEST_PATTERN, MOST_LOOPS, DenyRule
from omnia.core.errors import BadInput
from tests.support import Store, contents, fill, opened_store

pytestmark = pytest.mark.django_db

POLICY = {"dedup": {"embeddingSimilarity": {"enabled": False}}}


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store(policy=POLICY) as opened:
        yield opened


def found(store: Store, deny: str = "", *, query: str = "bees", status: int = 200, **fields: Any) -> dict[str, Any]:
    body = {"workspace_id": str(store.workspace), "user_id": "u1", "query": query, "deny_cel": deny, **fields}
    return store.send("POST", "memories/retrieve/semantic", body, status=status)


DENIED = "omnia_memory_retrieval_denied_total"
RESTRICTED = "metadata.url.contains('restricted')"


def test_every_tier_the_scope_joins_answers_and_no_other(store: Store) -> None:
    store.keep("institutional bees")
    store.keep("agent bees", agent="a1")
    store.keep("user bees", user="u1")
    store.keep("user for agent bees", user="u1", agent="a1")
    for user, agent in (("u2", None), ("u1", "a2"), (None, "a2")):
        store.keep("others' bees", user=user, agent=agent)
    assert set(contents(found(store))) == {"institutional bees", "user bees"}
    joined = found(store, agent_id="a1")
    assert set(contents(joined)) == {"institutional bees", "agent bees", "user bees", "user for agent bees"}
    assert joined["total"] == 4
    assert all("score" in memory for memory in joined["memories"])


def test_what_the_expression_names_is_left_out(store: Store) -> None:
    store.save("open bees", metadata={"url": "https://example.org/open"})
    store.save("restricted bees", metadata={"url": "https://example.org/restricted"})
    assert contents(found(store, RESTRICTED)) == ["open bees"]
    assert len(contents(found(store))) == 2


def test_behaviour_113_a_row_that_cannot_be_judged_is_denied(store: Store) -> None:
    store.save("bees without the key", metadata={"other": "x"})
    store.save("bees without metadata")
    store.save("bees with it", metadata={"url": "https://example.org/open"})
    assert contents(found(store, RESTRICTED)) == ["bees with it"]
    assert contents(found(store, "metadata.url")) == []
    found(store, "metadata.url.size()", status=400)


def test_the_denied_do_not_take_the_places_of_the_allowed(store: Store) -> None:
    for number in range(130):
        store.keep(f"bees bees {number}", user="u1", metadata={"url": "restricted"})
    for number in range(3):
        store.keep(f"a longer text about {number} bees", user="u1", metadata={"url": "open"})
    answer = found(store, RESTRICTED, limit=2)
    assert len(answer["memories"]) == 2
    assert not any("bees bees" in text for text in contents(answer))


def test_behind_thousands_of_denied_rows_stands_the_allowed_one(store: Store) -> None:
    fill(store.workspace, 2_000, user="u1", text="bees bees {i}")
    store.keep("a longer text about bees", user="u1", metadata={"url": "open"})
    assert contents(found(store, RESTRICTED, limit=1)) == ["a longer text about bees"]


def test_an_expression_that_takes_too_long_fails_closed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.save("bees", metadata={"url": "open"})
    monkeypatch.setattr("memories.services.semantic.SECONDS_TO_JUDGE", -1.0)
    assert found(store, RESTRICTED, status=400)["code"] == "deny_cel_invalid"
    assert len(contents(found(store))) == 1


def test_the_denied_are_counted(store: Store) -> None:
    for url in ("restricted", "open", "restricted"):
        store.keep(f"bees {url}", user="u1", metadata={"url": url})
    before = REGISTRY.get_sample_value(DENIED) or 0
    found(store, RESTRICTED)
    assert (REGISTRY.get_sample_value(DENIED) or 0) - before == 2


EXPRESSIONS = [
    # the expression, whether it denies a memory:health fact of the user tier with {"level": "3"}
    ("false", False),
    ("true", True),
    ("tier == 'user'", True),
    ("tier in ['agent', 'institutional']", False),
    ("kind == 'fact' && category == 'memory:health'", True),
    ("source != 'conversation_extraction'", False),
    ("int(metadata.level) > 2", True),
    ("int(metadata.level) > 3", False),
    ("has(metadata.secret)", False),
    ("has(metadata.level)", True),
    ("metadata.exists(key, key == 'level')", True),
    ("metadata.all(key, key.startsWith('l'))", False),
    ("metadata['level'].matches('^[0-2]$')", False),
    ("timestamp(metadata.since) > timestamp('2026-01-01T00:00:00Z')", True),
]


@pytest.mark.parametrize(("expression", "denied"), EXPRESSIONS)
def test_what_an_expression_may_ask(expression: str, denied: bool) -> None:
    row = {"metadata": {"level": "3", "since": "2026-06-01T00:00:00Z"}, "consent_category": "memory:health", "tier": 2, "type": "fact",
           "source_type": "conversation_extraction"}  # fmt: skip
    assert DenyRule.of(expression).denies(row) is denied


INVALID = [
    "metadata.url.contains(", "1", "'text'", "content.contains('x')", "embedding", "user == 'u2'", "workspace",
    "self.x", "{'a': 1} == metadata", "metadata.url + 'x' == 'y'", "'a' * 3", "type(metadata) == map",
    "metadata.url.matches(metadata.pattern)", "metadata.url.matches('a{1000}')", "bytes(metadata.url).size() > 1",
    f"metadata.url.matches('{'a' * (LONGEST_PATTERN + 1)}')", "'" + "x" * LONGEST + "' == ''",
    "metadata.exists(a, metadata.exists(b, a == b))", " || ".join(["metadata.exists(a, a == 'x')"] * (MOST_LOOPS + 1)),
    " || ".join(["tier == 'x'"] * 120), "(" * 300 + "true" + ")" * 300, "metadata.map(k, k).size() > 1 ? true : metadata.map(k,"
    " metadata.map(j, j)).size() > 1", "dyn(1)", "math.greatest(1, 2) > 1", "\u0000", "[1, 2].map(x, [1].map(y, y))",
]  # fmt: skip


@pytest.mark.parametrize("expression", INVALID, ids=lambda text: ascii(text[:40]))
def test_an_expression_outside_the_bounds_fails_closed(store: Store, expression: str) -> None:
    store.save("bees")
    refused = store.client.post(
        "/api/v1/memories/retrieve/semantic",
        {"workspace_id": str(store.workspace), "user_id": "u1", "query": "bees", "deny_cel": expression},
        content_type="application/json",
    )
    assert refused.status_code == 400, refused.content
    assert "bees" not in json.dumps(refused.json())
    if expression != "\u0000":
        assert refused.json()["code"] in ("deny_cel_invalid", "invalid")


@pytest.mark.parametrize("metadata", [{"url": "x" * 2000}, {str(n): "" for n in range(300)}, None, {"url": 5}], ids=str)
def test_values_beyond_the_bounds_are_denied(metadata: Any) -> None:
    row = {"metadata": metadata, "consent_category": None, "tier": 2, "type": "fact", "source_type": "x"}
    assert DenyRule.of("metadata.url.startsWith('y')").denies(row)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_hostile_pattern_takes_no_longer_than_its_text(pattern: str) -> None:
    row = {"metadata": {"url": "a" * 1000}, "consent_category": None, "tier": 2, "type": "fact", "source_type": "x"}
    DenyRule.of(f"metadata.url.matches('{pattern}')").denies(row)


def test_an_expression_is_told_why(store: Store) -> None:
    with pytest.raises(BadInput, match="category, kind, metadata, source, tier"):
        DenyRule.of("content == 'x' || metadata.a == content")


@pytest.mark.parametrize(
    "fields", [{"query": ""}, {"query": " "}, {"limit": 0}, {"limit": 101}, {"denyCel": "x"}], ids=str
)
def test_a_bad_question_is_refused(store: Store, fields: dict[str, Any]) -> None:
    found(store, **{"status": 400, **fields})
