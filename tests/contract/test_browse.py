"""List and search: one exact scope, a real total, each row once (design: Lists, Reading a scope)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from policies.models import Workspace
from tests.naming import named
from tests.support import Store, contents, fill, ids, opened_store, run

pytestmark = pytest.mark.django_db
OWNERS: list[tuple[str, str | None, str | None]] = [
    # content, user, agent
    ("institutional", None, None), ("agent a1", None, "a1"), ("agent a2", None, "a2"), ("user u1", "u1", None),
    ("user u2", "u2", None), ("u1 for a1", "u1", "a1"), ("u1 for a2", "u1", "a2"), ("u2 for a1", "u2", "a1"),
]  # fmt: skip
REACHES: list[tuple[dict[str, Any], list[str]]] = [
    ({"user_id": "u1"}, ["user u1"]),
    ({"user_id": "u1", "agent": ""}, ["user u1"]),
    ({"user_id": "u1", "agent": "a1"}, ["u1 for a1"]),
    ({"user_id": None, "agent": "a1"}, ["agent a1"]),
    ({"user_id": None}, ["institutional"]),
    ({"user_id": "", "agent": ""}, ["institutional"]),
    ({"user_id": "u1", "agent": "*"}, ["user u1", "u1 for a1", "u1 for a2"]),
    ({"user_id": "u1", "include_shared": "true"}, ["user u1", "institutional"]),
    ({"user_id": "u1", "agent": "a1", "include_shared": "true"}, ["u1 for a1", "institutional", "agent a1"]),
    ({"user_id": "u1", "agent": "*", "include_shared": "true"}, ["user u1", "u1 for a1", "u1 for a2", "institutional"]),
    ({"user_id": None, "agent": "a1", "include_shared": "1"}, ["agent a1", "institutional"]),
    ({"user_id": None, "include_shared": "true"}, ["institutional"]),
    ({"user_id": "u1", "include_shared": "false"}, ["user u1"]),
    ({"user_id": None, "virtual_user_id": "u2"}, ["user u2"]),
    ({"user_id": "u1", "virtual_user_id": "u2"}, ["user u2"]),
    ({"user_id": "U1"}, []),
    ({"user_id": "u%"}, []),
]


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


@pytest.mark.parametrize(("asked", "seen"), REACHES, ids=named)
def test_a_reach_is_what_it_names(store: Store, asked: dict[str, Any], seen: list[str]) -> None:
    for content, user, agent in OWNERS:
        store.keep(content, user=user, agent=agent)
    listed, found = store.browse(**asked), store.search("institutional agent user u1 u2 a1 a2", **asked)
    assert set(contents(listed)) == set(contents(found)) == set(seen)
    assert listed["total"] == found["total"] == len(seen)
    assert listed["next"] is None
    words = store.search("institutional agent user u1", tier="user", **asked)
    assert set(contents(words)) == {content for content in seen if content.startswith("user")}


REFUSED: list[dict[str, Any]] = [
    {"user_id": " "}, {"agent": " "}, {"user_id": None, "agent": "*"}, {"limit": "-1"}, {"limit": "0"}, {"limit": "101"},
    {"limit": "x"}, {"limit": "1.5"}, {"limit": str(2**63)}, {"offset": "-1"}, {"offset": "x"}, {"offset": str(2**63)},
    {"include_shared": "yes"}, {"tier": "x"}, {"min_confidence": "2"}, {"min_confidence": "NaN"},
    {"limit": ["1", "2"]}, {"user_id": ["u1", "u2"]}, {"type": "\x00"}, {"user_id": "u" * 254},
]  # fmt: skip


@pytest.mark.parametrize("asked", REFUSED, ids=ascii)
def test_what_a_list_does_not_take_is_refused_without_sql(store: Store, asked: dict[str, Any]) -> None:
    store.save()
    for refused in (store.browse(status=400, **asked), store.search("x", status=400, **asked)):
        assert refused["code"]
        assert "SELECT" not in str(refused)


def test_a_workspace_is_named_by_uid_or_name_and_not_by_default(store: Store) -> None:
    store.save()
    name = Workspace.objects.get(uid=store.workspace).name
    assert contents(store.browse(workspace=name)) == contents(store.browse()) == ["Lives in Lyon"]
    assert store.get("memories", status=400, workspace=None)["code"] == "workspace_required"
    assert store.get("memories", status=404, workspace="nowhere")["code"] == "workspace_not_found"


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"type": "fact"}, ["one", "two"]),
    ({"type": " preference , fact "}, ["one", "two", "three"]),
    ({"type": ["preference", "fact"]}, ["one", "two", "three"]),
    ({"type": ""}, ["one", "two", "three"]),
    ({"type": "nothing"}, []),
    ({"category": "memory:health"}, ["two"]),
    ({"purpose": "support"}, ["one"]),
    ({"tier": "user"}, ["one", "two", "three"]),
    ({"tier": "agent"}, []),
    ({"type": "fact", "purpose": "support"}, ["one"]),
    ({"min_confidence": "0.8"}, ["two", "three"]),
    ({"min_confidence": "0.99"}, []),
    ({"min_confidence": "0"}, ["one", "two", "three"]),
]


@pytest.mark.parametrize(("asked", "found"), FILTERS, ids=named)
def test_filters_narrow_list_and_search_alike(store: Store, asked: dict[str, Any], found: list[str]) -> None:
    store.save("bees one", purpose="support", confidence=0.5)
    store.save("bees two", category="memory:health", confidence=0.8)
    store.save("bees three", type="preference", confidence=0.9)
    store.save("bees of another", user="u2", purpose="support", category="memory:health", confidence=1)
    for answer in (store.browse(**asked), store.search("bees", **asked)):
        assert {content.split()[1] for content in contents(answer)} == set(found)
        assert answer["total"] == len(found)


def test_a_burst_is_listed_in_the_order_it_was_written(store: Store) -> None:
    written = [
        store.save(f"Note {number}", type="general", container=str(number))["memory"]["id"] for number in range(60)
    ]
    assert ids(store.browse(limit=100)) == written[::-1]


def test_what_changed_last_comes_first(store: Store) -> None:
    memories = [store.save(text)["memory"]["id"] for text in ("bees", "hives", "wax")]
    store.patch(memories[0], {"confidence": 1})
    assert ids(store.browse()) == [memories[0], memories[2], memories[1]]


@pytest.mark.parametrize("limit", [100, 7])
def test_a_cursor_meets_every_row_once_while_rows_arrive(store: Store, limit: int) -> None:
    fill(store.workspace, 1001, user="u1")
    before = {str(row["id"]) for row in store.rows("id")}
    met: list[str] = []
    cursor, pages = None, 0
    while pages == 0 or cursor:
        page = store.browse(limit=limit, cursor=cursor)
        met += ids(page)
        cursor, pages = page["next"], pages + 1
        if pages % 5 == 1:
            store.save(f"Arrived after page {pages}", container=str(pages))
    assert len(met) == len(set(met)) == 1001
    assert set(met) == before
    assert pages == -(-1001 // limit)


def test_rows_of_one_moment_are_paged_by_id(store: Store) -> None:
    fill(store.workspace, 25, user="u1")
    run("UPDATE memories_memory SET updated_at = now()")
    first = store.browse(limit=10)
    second = store.browse(limit=10, cursor=first["next"])
    third = store.browse(limit=10, cursor=second["next"])
    assert len(set(ids(first) + ids(second) + ids(third))) == 25
    assert third["next"] is None


@pytest.mark.parametrize("limit", [1, 5, 100])
def test_the_total_is_the_real_count_on_every_page(store: Store, limit: int) -> None:
    fill(store.workspace, 5, user="u1")
    page = store.browse(limit=limit)
    assert page["total"] == 5
    if page["next"]:
        assert store.browse(limit=limit, cursor=page["next"])["total"] == 5
    assert store.browse(limit=limit, offset=3)["total"] == 5
    assert len(ids(store.browse(limit=limit, offset=3))) == min(limit, 2)
    assert store.browse(limit=limit, offset=10_000_000)["memories"] == []
    assert store.browse(offset=10_000_001, status=400)["code"] == "invalid_parameter"


def test_a_cursor_that_is_not_ours_is_refused(store: Store) -> None:
    fill(store.workspace, 3, user="u1")
    good = store.browse(limit=1)["next"]
    for bad in ("x", good[:-1], good + "A", good[::-1], "=", "☃", "a" * 200, good.swapcase()):
        assert store.browse(cursor=bad, status=400)["code"] in ("invalid_cursor", "invalid_parameter")


def test_a_cursor_opens_no_other_scope(store: Store) -> None:
    fill(store.workspace, 3, user="u2")
    cursor = store.browse(limit=1, user_id="u2")["next"]
    assert store.browse(cursor=cursor)["memories"] == []


def test_a_search_finds_on_any_page(store: Store) -> None:
    fill(store.workspace, 1000, user="u1", text="filler {i}")
    rare = store.save("The chrysanthemum blooms")["memory"]["id"]
    fill(store.workspace, 50, user="u1", text="later {i}")
    assert ids(store.search("chrysanthemum", limit=1))[0] == rare
    pages = [store.search("filler", limit=100, offset=offset) for offset in range(0, 1001, 100)]
    met = [each for page in pages for each in ids(page)]
    assert len(met) == len(set(met)) == pages[0]["total"] >= 1000
    assert {page["total"] for page in pages} == {pages[0]["total"]}


def test_a_search_is_ordered_by_score(store: Store) -> None:
    for text in ("bees and honey", "bees", "honey cake", "clover"):
        store.save(text)
    found = store.search("honey from bees")["memories"]
    scores = [memory["score"] for memory in found]
    assert scores == sorted(scores, reverse=True)
    assert found[0]["content"] == "bees and honey"
    assert "clover" not in contents({"memories": found})


@pytest.mark.parametrize("name", ["container", "Type", "types", "fields", "order_by", "x" * 300])
@pytest.mark.parametrize("route", ["memories", "memories/search"])
def test_a_parameter_nobody_reads_is_refused(store: Store, route: str, name: str) -> None:
    assert store.get(route, status=400, q="bees", **{name: "1"})["code"] == "unknown_parameter"


@pytest.mark.parametrize("value", [2**31, 2**63, -1, -(2**31) - 1, "1e3", "1.0", "\u0661", ""])
@pytest.mark.parametrize("name", ["offset", "limit"])
def test_a_number_no_column_holds_is_refused(store: Store, name: str, value: object) -> None:
    """Field fault 122."""
    status = 200 if value == "" else 400
    answer = store.browse(**{name: value}, status=status)
    assert status == 200 or (answer["code"], answer["errors"][0]["pointer"]) == ("invalid_parameter", f"/{name}")
