"""`related[]`: the heaviest relations of every row of an answer, and nothing of what the caller may not see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from omnia import db
from omnia.core.edition import Edition
from policies.services.resolve import clear_cache
from tests.contract.graphs import kept, opened_graph, relate, related
from tests.support import Store, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_graph() as opened:
        yield opened


def star(store: Store, rows: int = 5) -> dict[str, str]:
    """A centre with edges to `n0`, `n1`, …, each lighter than the one before."""
    memories = {"centre": kept(store, "centre")}
    for number in range(rows):
        memories[f"n{number}"] = kept(store, f"n{number}")
        relate(store, memories["centre"], memories[f"n{number}"], weight=0.9 - number / 100)
    return memories


def test_a_relation_is_shown_with_its_ends_type_weight_and_direction(store: Store) -> None:
    memories = star(store, 1)
    assert related(store.recall("centre"), "centre") == [
        {"source_id": memories["centre"], "target_id": memories["n0"], "relation_type": "related_to", "weight": 0.9,
         "direction": "outgoing"}
    ]  # fmt: skip


def test_relations_have_no_past_and_an_earlier_moment_shows_none(store: Store) -> None:
    star(store, 1)
    assert related(store.recall("centre"), "centre")
    assert related(store.recall("centre", as_of=datetime.now(UTC).isoformat()), "centre") == []


def test_by_default_the_three_heaviest_are_shown_outgoing_only(store: Store) -> None:
    memories = star(store)
    relate(store, memories["n4"], memories["centre"], "causes", weight=1.0)
    answer = store.recall("")
    assert [edge["target_id"] for edge in related(answer, "centre")] == [memories[name] for name in ("n0", "n1", "n2")]
    assert [edge["target_id"] for edge in related(answer, "n4")] == [memories["centre"]]
    assert related(answer, "n0") == []


@pytest.mark.parametrize(("most", "shown"), [(0, 0), (1, 1), (3, 3), (50, 5)])
def test_the_policy_caps_them_and_zero_means_none(most: int, shown: int) -> None:
    with opened_graph(recall={"maxRelatedPerMemory": most}) as store:
        star(store)
        assert len(related(store.recall("centre"), "centre")) == shown


def test_equal_weights_show_the_newest(store: Store) -> None:
    one, targets = kept(store, "one"), [kept(store, f"t{number}") for number in range(5)]
    for target in targets:
        relate(store, one, target)
    assert [edge["target_id"] for edge in related(store.recall("one"), "one")] == targets[:-4:-1]


UNSEEN = [
    "expires_at = now()",
    "retired_at = now(), retired_as = 'forgotten'",
    "retired_at = now(), retired_as = 'superseded'",
    "user_id = 'u2'",
    "tier = 3, agent_id = 'a2'",
]


@pytest.mark.parametrize("change", UNSEEN)
def test_an_unseen_end_takes_neither_a_place_nor_a_trace(store: Store, change: str) -> None:
    memories = star(store)
    run(f"UPDATE memories_memory SET {change} WHERE content = 'n0'")
    shown = related(store.recall("centre"), "centre")
    assert [edge["target_id"] for edge in shown] == [memories[name] for name in ("n1", "n2", "n3")]


def test_a_shared_row_shows_each_user_their_own_relations(store: Store) -> None:
    hub = kept(store, "hub", user=None)
    for user in ("u1", "u2", "u3"):
        for number in range(3 if user == "u2" else 1):
            relate(store, hub, kept(store, f"{user} {number}", user=user), user=user)
    shown_to: list[tuple[str | None, int]] = [("u1", 1), ("u2", 3), ("u4", 0), (None, 0)]
    for reader, shown in shown_to:
        assert len(related(store.recall("hub", user=reader), "hub")) == shown


def test_the_agent_named_is_seen_and_no_other(store: Store) -> None:
    mine = kept(store, "mine")
    for agent in ("a1", "a2"):
        for user in (None, "u1"):
            relate(store, mine, kept(store, f"{agent} {user}", user=user, agent=agent), agent=agent)
    shown_to: list[tuple[str | None, int]] = [("a1", 2), ("a2", 2), ("a3", 0), (None, 0)]
    for named, shown in shown_to:
        assert len(related(store.recall("mine", agent=named), "mine")) == shown


def test_what_the_graph_adds_says_what_it_is_related_to_as_well(store: Store) -> None:
    memories = star(store, 1)
    relate(store, memories["n0"], kept(store, "further"))
    answer = store.recall("centre", graph_expansion=True)
    assert len(related(answer, "n0")) == 1


def test_a_previewing_search_shows_them_too(store: Store) -> None:
    memories = star(store, 1)
    [found] = store.search("centre", preview="true")["memories"]
    assert (found["source"], found["access_count"]) == ("direct", 0)
    assert [edge["target_id"] for edge in found["related"]] == [memories["n0"]]
    assert "related" not in store.search("centre")["memories"][0]


def test_in_the_core_edition_the_institution_is_not_shown(store: Store, settings: Any) -> None:
    one = kept(store, "one")
    relate(store, one, kept(store, "shared", user=None))
    relate(store, one, kept(store, "other"))
    settings.OMNIA = replace(settings.OMNIA, edition=Edition.CORE)
    clear_cache()
    assert len(related(store.recall("one"), "one")) == 1


@pytest.mark.parametrize(("most", "statements"), [(0, 1), (3, 2)])
def test_all_rows_are_asked_about_in_one_statement_and_not_even_that_for_zero(most: int, statements: int) -> None:
    with opened_graph(recall={"maxRelatedPerMemory": most}) as store:
        star(store, 10)
        store.recall("centre")
        assert touched(store) == statements


def touched(store: Store) -> int:
    """How many statements read memories in one recall."""
    seen: list[str] = []
    real = db._run

    def noting(sql: str, parameters: Mapping[str, Any]) -> Any:
        seen.append(sql)
        return real(sql, parameters)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db, "_run", noting)
        assert store.recall("centre")["memories"]
    return sum("memories_memory" in sql for sql in seen)
