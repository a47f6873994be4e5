"""What was told twice and differently is kept, told and listed; guarded, it is not merged (design: Merge, conflicts)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError, transaction

from memories.models import Conflict
from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from tests.callers import caller
from tests.naming import named
from tests.support import Store, Table, contents, opened_store, pair, run

pytestmark = pytest.mark.django_db
OLD, NEW = "The deadline is October 15th", "The deadline is October 16th"
LIKE = "The deadline: October 15th"
CITY = {"kind": "user", "key": "city"}


@contextmanager
def near(cosine: float, *texts: str, **policy: Any) -> Iterator[Store]:
    """A store in which OLD lies at `cosine` from every other text."""
    one, other = pair(cosine)
    vectors = {OLD: one} | dict.fromkeys(texts or (NEW, LIKE), other)
    with opened_store(policy=policy, embedder=Table(vectors)) as store:
        yield store


@pytest.fixture
def guarded(settings: Any) -> None:
    settings.OMNIA = replace(settings.OMNIA, merge_guard=True)


PAIRS = [
    # field-faults C 57, 58: what lies at such a cosine, and how the two differ
    (OLD, NEW, "date"),
    ("Order #12345 has shipped", "Order #12346 has shipped", "number"),
    ("The service runs v1.2.3", "The service runs v1.2.4", "number"),
    ("The user is allergic to peanuts", "The user is not allergic to peanuts", "negation"),
    ("The meeting moved from Monday to Tuesday", "The meeting moved from Tuesday to Monday", "roles"),
    ("Prefers email over phone", "Prefers phone over email", "roles"),
    ("The docs are at https://corp.example", "The docs are at https://corp-example.net", "url"),
]


@pytest.mark.parametrize(("old", "new", "kind"), PAIRS)
def test_a_merge_that_replaces_a_fact_says_so_and_keeps_the_former(old: str, new: str, kind: str) -> None:
    one, other = pair(0.98)
    with opened_store(embedder=Table({old: one, new: other})) as store:
        first = store.save(old)["memory"]["id"]
        merged = store.save(new)
        assert merged["action"] == "merged"
        assert merged["memory"]["content"] == new
        assert merged["conflict"] == {"kind": kind, "kinds": [kind], "memory_id": first, "previous_content": old}
        assert [each["content"] for each in store.history(first)["wordings"]] == [old]
        [listed] = conflicts(store)["conflicts"]
        assert (listed["memory_id"], listed["kinds"]) == (first, [kind])
        assert (listed["content"], listed["earlier_content"]) == (new, old)
        assert listed["found_at"] == merged["memory"]["updated_at"]
        assert "other_memory_id" not in listed


def test_a_merge_of_the_same_fact_says_nothing() -> None:
    with near(0.98) as store:
        store.save(OLD)
        merged = store.save(LIKE)
        assert merged["action"] == "merged"
        assert "conflict" not in merged
        assert conflicts(store) == {"conflicts": [], "total": 0, "next": None}


def test_a_near_duplicate_that_differs_is_told_and_listed_as_two_memories() -> None:
    with near(0.9, NEW) as store:
        first = store.save(OLD)["memory"]["id"]
        second = store.save(NEW)
        assert second["action"] == "added"
        assert "conflict" not in second
        [duplicate] = second["potential_duplicates"]
        assert duplicate["conflict"] == {"kind": "date", "kinds": ["date"]}
        [listed] = conflicts(store)["conflicts"]
        assert (listed["memory_id"], listed["other_memory_id"]) == (second["memory"]["id"], first)
        assert (listed["content"], listed["earlier_content"]) == (NEW, OLD)


def test_a_near_duplicate_of_the_same_fact_is_told_without_a_conflict() -> None:
    with near(0.9) as store:
        store.save(OLD)
        [duplicate] = store.save(LIKE)["potential_duplicates"]
        assert "conflict" not in duplicate
        assert conflicts(store)["total"] == 0


def test_a_fact_key_told_anew_with_another_number_is_listed() -> None:
    with opened_store() as store:
        first = store.save("Has 2 cats", about=CITY)["memory"]["id"]
        again = store.save("Has 3 cats", about=CITY)
        assert again["action"] == "auto_superseded"
        assert (again["conflict"]["kind"], again["conflict"]["memory_id"]) == ("number", first)
        store.save("Lives in Lyon", about={"kind": "user", "key": "home"})
        assert "conflict" not in store.save("Lives in Rome", about={"kind": "user", "key": "home"})
        [listed] = conflicts(store)["conflicts"]
        assert (listed["content"], listed["earlier_content"]) == ("Has 3 cats", "Has 2 cats")


@pytest.mark.usefixtures("guarded")
def test_guarded_a_merge_that_would_replace_a_fact_keeps_both() -> None:
    with near(0.98) as store:
        first = store.save(OLD)["memory"]["id"]
        second = store.save(NEW)
        assert second["action"] == "added"
        assert second["conflict"] == {
            "kind": "date", "kinds": ["date"], "memory_id": first, "previous_content": OLD,
        }  # fmt: skip
        assert [(each["id"], each["conflict"]["kind"]) for each in second["potential_duplicates"]] == [(first, "date")]
        assert sorted(contents(store.browse())) == [OLD, NEW]
        assert store.history(first)["wordings"] == []
        [listed] = conflicts(store)["conflicts"]
        assert listed["other_memory_id"] == first


@pytest.mark.usefixtures("guarded")
def test_guarded_a_text_merges_past_the_one_it_contradicts_into_its_twin() -> None:
    one, other = pair(0.98)
    with opened_store(embedder=Table({OLD: one, NEW: other, LIKE: other})) as store:
        first = store.save(OLD)["memory"]["id"]
        store.save(NEW)
        twin = store.save(LIKE)
        assert (twin["action"], twin["memory"]["id"]) == ("merged", first)
        assert "conflict" not in twin


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("auto", ["0.7", "0.95"])
def test_guarded_the_contradicted_memory_is_named_wherever_the_thresholds_lie(auto: str) -> None:
    with near(0.96 if auto == "0.95" else 0.75, **similarity(autoSupersedeAbove=auto)) as store:
        first = store.save(OLD)["memory"]["id"]
        second = store.save(NEW)
        assert [each["id"] for each in second["potential_duplicates"]] == [first]
        assert second["conflict"]["memory_id"] == first


def test_the_guard_is_off_unless_it_is_set() -> None:
    assert settings.OMNIA.merge_guard is False


@pytest.mark.usefixtures("guarded")
def test_guarded_a_key_still_keeps_one_memory() -> None:
    with opened_store() as store:
        first = store.save("Has 2 cats", about=CITY)["memory"]["id"]
        assert store.save("Has 3 cats", about=CITY)["memory"]["id"] == first


ENDS: dict[str, str] = {
    "the memory is forgotten": "UPDATE memories_memory SET retired_at = now(), retired_as = 'forgotten' WHERE content = %s",
    "the memory expires": "UPDATE memories_memory SET expires_at = now() WHERE content = %s",
    "the memory is deleted": "DELETE FROM memories_memory WHERE content = %s",
    "the memory moves to another owner": "UPDATE memories_memory SET user_id = 'u2' WHERE content = %s",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("text", [OLD, NEW])
def test_a_pair_is_listed_while_both_stand(end: str, text: str) -> None:
    with near(0.9, NEW) as store:
        store.save(OLD)
        store.save(NEW)
        assert conflicts(store)["total"] == 1
        run(ENDS[end], text)
        assert conflicts(store) == {"conflicts": [], "total": 0, "next": None}
        assert conflicts(store, user_id="u2")["total"] == 0


def test_an_edit_settles_what_the_memory_contradicted() -> None:
    with near(0.98, NEW) as store:
        memory = store.save(OLD)["memory"]["id"]
        store.save(NEW)
        store.patch(memory, {"confidence": 0.9})
        assert conflicts(store)["total"] == 1
        store.patch(memory, {"content": "The deadline is October 17th"})
        assert conflicts(store)["total"] == 0


def test_a_memory_that_says_again_what_it_said_has_no_conflict_with_itself() -> None:
    with near(1.0, NEW) as store:
        store.save(OLD)
        store.save(NEW)
        assert store.save(OLD)["conflict"]["previous_content"] == NEW
        assert [each["earlier_content"] for each in conflicts(store)["conflicts"]] == [NEW]


def test_conflicts_go_with_the_memories_for_good() -> None:
    with near(0.98, NEW) as store:
        store.save(OLD)
        store.save(NEW)
        store.send("DELETE", "memories", None, status=200, query={"workspace": store.workspace, "user_id": "u1"})
        assert not Conflict.objects.exists()


def test_a_conflict_is_with_one_thing_and_of_a_kind() -> None:
    with opened_store() as store:
        memory = store.save()["memory"]["id"]
        for columns in ({}, {"other_id": memory, "kinds": []}):
            with pytest.raises(IntegrityError), transaction.atomic():
                Conflict.objects.create(**{"memory_id": memory, "kinds": ["date"]} | columns)


@pytest.fixture
def everybody() -> Iterator[Store]:
    """A store in which each owner was told OLD and then NEW."""
    with near(0.98, NEW) as store:
        for user, agent in ((None, None), (None, "a1"), (None, "a2"), ("u1", None), ("u1", "a1"), ("u2", None)):
            store.keep(OLD, user=user, agent=agent)
            store.keep(NEW, user=user, agent=agent)
        yield store


WHOSE: list[tuple[dict[str, Any], list[tuple[str | None, str | None]]]] = [
    # asked for, whose pairs are listed
    ({"user_id": "u1"}, [("u1", None), ("u1", "a1")]),
    ({"user_id": "u1", "agent": "*"}, [("u1", None), ("u1", "a1")]),
    ({"user_id": "u1", "agent": "a1"}, [("u1", "a1")]),
    ({"user_id": "u2"}, [("u2", None)]),
    ({"user_id": "U1"}, []),
    ({"user_id": None}, [(None, None), (None, "a1"), (None, "a2")]),
    ({"user_id": ""}, [(None, None), (None, "a1"), (None, "a2")]),
    ({"user_id": None, "agent": "a1"}, [(None, "a1")]),
]


@pytest.mark.parametrize(("asked", "owners"), WHOSE)
def test_a_user_is_named_or_only_shared_rows_are_listed(
    everybody: Store, asked: dict[str, Any], owners: list[tuple[str | None, str | None]]
) -> None:
    found = conflicts(everybody, **asked)
    listed = [(each["scope"].get("virtual_user_id"), each["scope"].get("agent_id")) for each in found["conflicts"]]
    assert sorted(listed, key=str) == sorted(owners, key=str)
    assert found["total"] == len(owners)


def test_viewers_read_and_a_bound_token_reads_its_user_only(everybody: Store) -> None:
    assert conflicts(Store(everybody.workspace, caller(Role.VIEWER)))["total"] == 2
    bound = Store(everybody.workspace, caller(Role.EDITOR, subject="u2"))
    assert conflicts(bound, status=403)["code"] == "bound_to_a_user"
    assert conflicts(bound, user_id="u2")["total"] == 1
    with opened_store() as other:
        assert conflicts(other)["total"] == 0


@pytest.mark.parametrize(
    "query", [{"workspace": None}, {"limit": "0"}, {"limit": "101"}, {"cursor": "x"}, {"container": "c"}], ids=named
)
def test_a_bad_question_is_refused(everybody: Store, query: dict[str, Any]) -> None:
    conflicts(everybody, status=400, **query)


def test_pages_follow_one_another_newest_first(everybody: Store) -> None:
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = conflicts(everybody, user_id=None, limit=2, cursor=cursor)
        assert page["total"] == 3
        seen += [each["id"] for each in page["conflicts"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == sorted(seen, reverse=True)
    assert len(set(seen)) == 3


def test_a_conflict_tells_no_other_user_anything() -> None:
    with near(0.98, NEW) as store:
        store.save(OLD, user="u2")
        saved = store.save(NEW)
        assert (saved["action"], "conflict" in saved, "potential_duplicates" in saved) == ("added", False, False)
        assert OLD not in json.dumps([saved, conflicts(store), conflicts(store, user_id=None)])


def test_the_audit_proves_which_text_gave_way_without_holding_it() -> None:
    """Security case 15, field faults D 78."""
    with near(0.98, NEW) as store:
        store.save(OLD)
        store.save(NEW)
        store.patch(store.browse()["memories"][0]["id"], {"content": "Something else"})
    rows = AuditRow.objects.filter(workspace_id=store.workspace).order_by("id")
    added, merged, edited = rows.values_list("metadata", flat=True)
    assert list(added) == ["after"]
    assert merged["before"] == added["after"] != merged["after"] == edited["before"] != edited["after"]
    assert all(len(mark) == 16 for mark in merged.values())


def similarity(**stated: str) -> dict[str, Any]:
    return {"dedup": {"embeddingSimilarity": stated}}


def conflicts(store: Store, *, status: int = 200, **query: Any) -> Mapping[str, Any]:
    return store.get("memories/conflicts", status=status, **query)
