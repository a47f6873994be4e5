"""One live memory a key: `about{kind, key}` keeps a fact up to date (reference: Entities)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from memories.domain.about import About
from tests.naming import named
from tests.support import Store, contents, lasts, opened_store, run

pytestmark = pytest.mark.django_db
NAME = {"kind": "user", "key": "name"}


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


def test_the_same_key_again_replaces_the_text_and_keeps_the_id(store: Store) -> None:
    first = store.save("Is called Ann", about=NAME)
    second = store.save("Is called Anna", about=NAME)
    memory = first["memory"]["id"]
    assert first["action"] == "added"
    assert "supersedes" not in first
    assert second["memory"]["id"] == memory
    assert second["action"] == "auto_superseded"
    assert second["supersedes"] == [memory]
    assert second["supersede_reason"] == "structured_key"
    assert "potential_duplicates" not in second
    for answer in (store.recall("called"), store.browse(), store.search("called")):
        assert contents(answer) == ["Is called Anna"]
    [old] = store.history(memory)["wordings"]
    assert (old["content"], old["reason"], old["actor"]) == ("Is called Ann", "structured_key", "token:owner")
    assert old["said_at"] == first["memory"]["updated_at"]
    assert old["replaced_at"] == second["memory"]["updated_at"] > old["said_at"]


@pytest.mark.parametrize(("kind", "key"), [("User", "Name"), ("  user\t", " NAME "), ("USER", "\u3000name\u00a0")])
def test_keys_are_folded(store: Store, kind: str, key: str) -> None:
    memory = store.save("Is called Ann", about=NAME)["memory"]
    again = store.save("Is called Anna", about={"kind": kind, "key": key})["memory"]
    assert again["id"] == memory["id"]
    assert again["about"] == NAME


def test_composed_and_decomposed_letters_are_one_key(store: Store) -> None:
    first = store.save("one", about={"kind": "k", "key": "Caf\u00e9"})["memory"]
    assert store.save("two", about={"kind": "k", "key": "cafe\u0301"})["memory"]["id"] == first["id"]


@pytest.mark.parametrize("key", ['c++, templates | "x"', "it's; -- 100% a_b x*y", "日本 🙂"])
def test_commas_quotes_and_signs_come_back_as_they_are(store: Store, key: str) -> None:
    memory = store.save(about={"kind": "topic", "key": key})["memory"]
    assert store.open(memory["id"])["about"] == {"kind": "topic", "key": key}
    assert store.save("Anew", about={"kind": "topic", "key": key})["memory"]["id"] == memory["id"]


OTHERS: list[dict[str, Any]] = [
    {"about": {"kind": "user", "key": "surname"}},
    {"about": {"kind": "pet", "key": "name"}},
    {"about": None},
    {"about": NAME, "user": "u2"},
    {"about": NAME, "agent": "a1"},
]


@pytest.mark.parametrize("other", OTHERS, ids=named)
def test_another_key_or_scope_is_another_memory(store: Store, other: dict[str, Any]) -> None:
    first = store.save("Is called Ann", about=NAME)["memory"]
    second = store.save("Is called Ann", **other)
    assert second["action"] == "added"
    assert second["memory"]["id"] != first["id"]
    assert len(store.rows()) == 2


def test_another_workspace_has_its_own_keys(store: Store) -> None:
    first = store.save("Is called Ann", about=NAME)["memory"]
    with opened_store() as other:
        assert other.save("Is called Bob", about=NAME)["action"] == "added"
    assert store.open(first["id"])["content"] == "Is called Ann"


def test_a_key_said_again_settles_expiry_category_and_certainty_anew() -> None:
    tiers = {"user": {"ttl": {"default": "10d"}, "perCategory": {"memory:health": {"ttl": {"default": "2d"}}}}}
    with opened_store(policy={"tiers": tiers}) as store:
        store.save("Is well", about=NAME, confidence=0.9, metadata={"a": "1", "b": "1"})
        again = store.save("Is ill", about=NAME, category="memory:health", metadata={"b": "2"})["memory"]
        assert (lasts(again), again["consent_category"]) == (timedelta(days=2), "memory:health")
        assert again["confidence"] == 0.7
        assert again["metadata"] == {"a": "1", "b": "2"}
        assert again["evidence_count"] == 1


@pytest.mark.parametrize(
    "gone", ["expires_at = now() - interval '1 second'", "retired_at = now(), retired_as = 'forgotten'"]
)
def test_a_memory_that_is_gone_makes_room_for_its_key(store: Store, gone: str) -> None:
    first = store.save("Is called Ann", about=NAME)["memory"]
    run(f"UPDATE memories_memory SET {gone} WHERE id = %s", first["id"])
    second = store.save("Is called Bob", about=NAME)
    assert second["action"] == "added"
    assert second["memory"]["id"] != first["id"]
    assert store.history(second["memory"]["id"])["wordings"] == []
    assert contents(store.browse()) == ["Is called Bob"]
    assert store.save("Is called Rob", about=NAME)["memory"]["id"] == second["memory"]["id"]


def test_an_invalidation_dated_ahead_leaves_the_key_in_force_until_then(store: Store) -> None:
    first = store.save("Is called Ann", about=NAME)["memory"]
    run("UPDATE memories_memory SET retired_at = now() + interval '1 day', retired_as = 'invalidated' WHERE id = %s",
        first["id"])  # fmt: skip
    assert store.save("Is called Anna", about=NAME)["memory"]["id"] == first["id"]


def test_shared_tiers_have_keys_of_their_own(store: Store) -> None:
    def said(text: str, agent: str | None) -> Any:
        return store.keep(text, agent=agent, about=About.of("user", "name")).memory["id"]

    institutional, agent = said("Anything", None), said("Anything", "a1")
    assert said("Something", None) == institutional
    assert said("Something", "a1") == agent != institutional


BAD = [
    # about, pointer
    ({"kind": "", "key": "x"}, "/about/kind"),
    ({"kind": "user", "key": " \t"}, "/about/key"),
    ({"kind": "user", "key": "\u200b"}, "/about/key"),
    ({"kind": "user", "key": "a\nb"}, "/about/key"),
    ({"kind": "k" * 129, "key": "x"}, "/about/kind"),
    ({"kind": "user", "key": "k" * 513}, "/about/key"),
    ({"kind": "user", "key": "k" * 10_000}, "/about/key"),
    ({"kind": "user"}, "/about/key"),
    ({"kind": 1, "key": "x"}, "/about/kind"),
    ("user", "/about"),
    (["user", "name"], "/about"),
]


@pytest.mark.parametrize(("about", "pointer"), BAD)
def test_a_key_that_is_none_is_refused(store: Store, about: Any, pointer: str) -> None:
    assert store.save(about=about, status=400)["errors"][0]["pointer"] == pointer
    assert not store.rows()
