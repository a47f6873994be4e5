"""/memories/batch: many saves in one request, each on its own; an owner's memories deleted a part at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from memories.embeddings.base import Vector
from omnia.api.models import IdempotencyRecord
from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from tests.callers import caller
from tests.naming import named
from tests.support import Store, Table, contents, fill, opened_store, select

pytestmark = pytest.mark.django_db
CITY = {"kind": "user", "key": "city"}


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


@dataclass
class Counting(Table):
    """Notes how many texts each call brings."""

    calls: list[int] = field(default_factory=list)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | None]:
        self.calls.append(len(texts))
        return super().embed_passages(texts)


def test_each_item_is_a_save(store: Store) -> None:
    results = save(store, item(store, "Keeps bees", title="Hobby"), item(store, "Lives in Lyon", agent="a1"))
    assert [(each["index"], each["status"], each["action"]) for each in results] == [
        (0, 201, "added"),
        (1, 201, "added"),
    ]
    first, second = (each["memory"] for each in results)
    assert store.open(first["id"]).items() >= first.items()
    assert second["scope"]["agent_id"] == "a1"


def test_a_bad_item_fails_alone(store: Store) -> None:
    with opened_store() as other:
        results = save(
            store,
            item(store, "Keeps bees"),
            item(store, " "),
            "no item",
            item(store, "Lives in Lyon", confidence=2),
            item(store, "Wears a veil", type="nope"),
            item(store, "Has sold honey", user=None),
            item(store, "Sells wax", workspace="nowhere"),
            item(store, "Works alone", about={"kind": "", "key": "x"}),
            item(other, "Rows a boat"),
        )
    assert [each["status"] for each in results] == [201, 400, 400, 400, 400, 400, 404, 400, 201]
    assert [each["error"]["code"] for each in results if "error" in each] == [
        "content_empty", "invalid", "invalid", "type_not_declared", "user_required", "workspace_not_found", "invalid_about",
    ]  # fmt: skip
    assert results[3]["error"]["errors"][0]["pointer"] == "/items/3/confidence"
    assert all(("memory" in each) != ("error" in each) for each in results)
    assert contents(store.browse()) == ["Keeps bees"]


def test_the_second_twin_merges_into_the_first(store: Store) -> None:
    """Field faults C 63: variants inside one batch are compared with each other."""
    first, second, other = save(store, item(store, "Keeps bees"), item(store, "Keeps bees"), item(store, "Sails"))
    assert (first["action"], second["action"], other["action"]) == ("added", "merged", "added")
    assert second["memory"]["id"] == first["memory"]["id"]
    assert second["supersede_reason"] == "high_similarity"


def test_one_key_twice_is_one_memory_with_the_second_text(store: Store) -> None:
    first, second = save(store, item(store, "In Lyon", about=CITY), item(store, "In Rome", about=CITY))
    assert (second["action"], second["memory"]["id"]) == ("auto_superseded", first["memory"]["id"])
    assert contents(store.browse()) == ["In Rome"]


def test_items_of_different_owners_do_not_meet(store: Store) -> None:
    results = save(store, *(item(store, "Keeps bees", user=user) for user in ("u2", "u1", "u2", "u3")))
    assert [each["action"] for each in results] == ["added", "added", "merged", "added"]


def test_contradictions_are_told_item_by_item(store: Store) -> None:
    _, second = save(store, item(store, "Has 2 cats", about=CITY), item(store, "Has 3 cats", about=CITY))
    assert second["conflict"]["kind"] == "number"


def test_dedup_switched_off_is_off_here_too() -> None:
    with opened_store(policy={"dedup": {"embeddingSimilarity": {"enabled": False}}}) as store:
        results = save(store, item(store, "Keeps bees"), item(store, "Keeps bees"))
        assert [each["action"] for each in results] == ["added", "added"]
        assert not any("potential_duplicates" in each for each in results)


def test_the_texts_are_embedded_in_one_call() -> None:
    table = Counting()
    with opened_store(embedder=table) as store:
        save(store, *(item(store, f"Fact number {number}") for number in range(30)), item(store, " "))
        assert table.calls == [30]
        assert {row["ready"] for row in store.rows("embedding IS NOT NULL AS ready")} == {True}


def test_a_batch_of_nothing_good_asks_no_embedder() -> None:
    table = Counting()
    with opened_store(embedder=table) as store:
        save(store, item(store, " "))
        assert table.calls == []


@pytest.mark.parametrize("embedder", [None, Table(fails=True)])
def test_without_vectors_a_batch_is_kept_all_the_same(embedder: Table | None) -> None:
    with opened_store(embedder=embedder, embeds=embedder is not None) as store:
        results = save(store, item(store, "Keeps bees"), item(store, "Keeps bees"))
        assert [each["action"] for each in results] == ["added", "added"]
        assert contents(store.recall("bees")) == ["Keeps bees", "Keeps bees"]


def test_a_text_without_a_vector_keeps_the_others_theirs() -> None:
    with opened_store(embedder=Table({"Keeps bees": None})) as store:
        save(store, item(store, "Keeps bees"), item(store, "Sails"))
        assert [row["ready"] for row in store.rows("embedding IS NOT NULL AS ready")] == [False, True]


def test_what_is_said_once_for_the_batch_holds_for_items_that_do_not_say_it(store: Store) -> None:
    body = {
        "scope": scope(store),
        "items": [{"type": "fact", "content": "Keeps bees"}, item(store, "Sails", user="u2")],
    }
    results = store.send("POST", "memories/batch", body, status=200)["results"]
    assert [each["memory"]["scope"]["virtual_user_id"] for each in results] == ["u1", "u2"]


def test_a_hundred_items_and_no_more(store: Store) -> None:
    items = [item(store, f"Fact number {number}", about={"kind": "n", "key": str(number)}) for number in range(101)]
    assert store.send("POST", "memories/batch", {"items": items}, status=400)["errors"][0]["pointer"] == "/items"
    assert store.rows() == []
    assert len(save(store, *items[:100])) == 100


@pytest.mark.parametrize("items", [None, [], {}, "x", 1])
def test_items_are_a_list_that_holds_some(store: Store, items: Any) -> None:
    store.send("POST", "memories/batch", {"items": items}, status=400)


def test_roles_count_item_by_item(store: Store) -> None:
    viewer = Store(store.workspace, caller(Role.VIEWER))
    assert save(viewer, item(store, "Keeps bees"))[0]["error"]["code"] == "role_too_small"
    bound = Store(store.workspace, caller(Role.EDITOR, subject="u1"))
    refused, taken, its_own = save(
        bound, item(store, "Keeps bees", user="u2"), item(store, "Sails"), item(store, "Rows", user=None)
    )
    assert (refused["status"], taken["status"]) == (403, 201)
    assert its_own["memory"]["scope"]["virtual_user_id"] == "u1"
    assert {row["user_id"] for row in store.rows("user_id")} == {"u1"}


def test_a_key_answers_twice_and_saves_once(store: Store) -> None:
    """Field faults C 74."""
    body = {"items": [item(store, "Keeps bees"), item(store, " ")]}
    answers = [store.send("POST", "memories/batch", body, status=200, headers={"Idempotency-Key": "k"}) for _ in "ab"]
    assert answers[0] == answers[1]
    [row] = store.rows("evidence_count")
    assert row["evidence_count"] == 1


def test_an_answer_about_several_people_goes_with_any_of_them(store: Store) -> None:
    body = {"items": [item(store, "Keeps bees", user="u1"), item(store, "Sails", user="u2")]}
    store.send("POST", "memories/batch", body, status=200, headers={"Idempotency-Key": "k"})
    store.save("Rows", user="u3", headers={"Idempotency-Key": "k3"})
    with opened_store() as other:
        other.save("Swims", user="u2", headers={"Idempotency-Key": "k4"})
        both = {"items": [item(store, "Runs", user="u3"), item(other, "Dives", user="u3")]}
        other.send("POST", "memories/batch", both, status=200, headers={"Idempotency-Key": "k5"})
        store.send("DELETE", "memories", None, status=200, query={"workspace": store.workspace, "user_id": "u2"})
    kept = [
        bytes(body).decode()
        for body in IdempotencyRecord.objects.exclude(caller="dropped").values_list("body", flat=True)
    ]
    assert len(kept) == 2
    assert {word for word in ("Keeps", "Sails", "Rows", "Swims", "Runs") if word in "".join(kept)} == {"Rows", "Swims"}


def test_each_save_has_its_audit(store: Store) -> None:
    save(store, item(store, "Keeps bees"), item(store, "Keeps bees"), item(store, " "))
    rows = AuditRow.objects.filter(workspace_id=store.workspace).order_by("id")
    assert [row.event for row in rows] == ["memory_created", "memory_merged"]


# Deleting a part


def test_a_part_goes_at_a_time_until_nothing_is_left(store: Store) -> None:
    """Behaviour I 125: limit 3 of 5 is 3, then 2; then 0 and no audit."""
    fill(store.workspace, 5, user="u1")
    assert [delete(store, limit="3") for _ in range(4)] == [3, 2, 0, 0]
    rows = AuditRow.objects.filter(workspace_id=store.workspace).order_by("id")
    assert [(row.event, row.reason, row.metadata) for row in rows] == [
        ("memory_deleted", "forget_batch", {"deleted": count}) for count in (3, 2)
    ]


def test_the_oldest_go_first_with_all_that_hangs_on_them(store: Store) -> None:
    first = store.save("In Lyon", about=CITY)["memory"]["id"]
    store.save("In 2 towns", about=CITY)
    store.save("In 3 towns", about=CITY)
    store.save("Sails", about={"kind": "user", "key": "sport"})
    assert delete(store, limit="1") == 1
    store.open(first, status=404)
    assert contents(store.browse()) == ["Sails"]
    assert [row["key"] for row in select("SELECT key FROM memories_entity")] == ["sport"]
    assert select("SELECT 1 FROM memories_wording") == select("SELECT 1 FROM memories_conflict") == []


def test_expired_forgotten_and_superseded_rows_go_too(store: Store) -> None:
    fill(store.workspace, 4, user="u1")
    memories = [row["id"] for row in store.rows("id")]
    store.forget(memories[0])
    body = {"scope": scope(store), "source_ids": [str(each) for each in memories[1:3]], "content": "Both"}
    store.send("POST", "memories/supersede", body, status=200)
    assert delete(store, limit="2") == 2
    assert [row["superseded_by_id"] for row in store.rows("superseded_by_id")] == [None, None]
    assert delete(store) == 2


OWNERS: list[tuple[dict[str, Any], set[tuple[str | None, str | None]]]] = [
    # the scope named, whose rows go
    ({"user_id": "u1"}, {("u1", None), ("u1", "a1")}),
    ({"user_id": "u1", "agent": "a1"}, {("u1", "a1")}),
    ({"user_id": None, "agent": "a1"}, {(None, "a1")}),
    ({"user_id": "U1"}, set()),
]


@pytest.mark.parametrize(("named", "gone"), OWNERS)
def test_only_the_named_owners_rows_go(
    store: Store, named: dict[str, Any], gone: set[tuple[str | None, str | None]]
) -> None:
    owners = {("u1", None), ("u1", "a1"), ("u2", None), ("u2", "a1"), (None, "a1"), (None, None)}
    for user, agent in owners:
        store.keep("A fact", user=user, agent=agent)
    with opened_store() as other:
        other.save()
        assert delete(store, **named) == len(gone)
        assert len(other.rows("id")) == 1
    assert {(row["user_id"], row["agent_id"]) for row in store.rows("user_id, agent_id")} == owners - gone


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"workspace": None}, "workspace_required"),
    ({"user_id": None}, "scope_too_wide"),
    ({"user_id": ""}, "scope_too_wide"),
    ({"user_id": None, "agent": "*"}, "invalid_scope"),
    ({"limit": "0"}, "invalid_parameter"),
    ({"limit": "-1"}, "invalid_parameter"),
    ({"limit": "10001"}, "invalid_parameter"),
    ({"limit": "many"}, "invalid_parameter"),
    ({"container": "c"}, "unknown_parameter"),
]


@pytest.mark.parametrize(("query", "code"), REFUSED, ids=named)
def test_an_empty_filter_or_one_nobody_reads_deletes_nothing(store: Store, query: dict[str, Any], code: str) -> None:
    store.save()
    assert store.send("DELETE", "memories/batch", None, status=400, query=asked(store, query))["code"] == code
    assert len(store.rows("id")) == 1


def test_the_limit_is_500_unless_it_is_said_in_query_or_body(store: Store) -> None:
    fill(store.workspace, 510, user="u1")
    assert delete(store) == 500
    body = {"scope": scope(store), "limit": 4}
    assert store.send("DELETE", "memories/batch", body, status=200) == {"deleted": 4}
    assert delete(store, limit="10000") == 6
    store.send("DELETE", "memories/batch", body | {"limit": 0}, status=400)


def test_only_owners_delete(store: Store) -> None:
    store.save()
    for client in (caller(Role.EDITOR), caller(Role.OWNER, subject="u2")):
        query = asked(store, {})
        Store(store.workspace, client).send("DELETE", "memories/batch", None, status=403, query=query)
    assert len(store.rows("id")) == 1


def test_kept_answers_go_with_the_rows(store: Store) -> None:
    store.save(headers={"Idempotency-Key": "k"})
    delete(store, limit="1")
    assert not IdempotencyRecord.objects.exclude(caller="dropped").exists()


def scope(store: Store, user: str | None = "u1") -> dict[str, Any]:
    return {"workspace_id": str(store.workspace), "virtual_user_id": user}


def item(
    store: Store, content: str, *, user: str | None = "u1", agent: str | None = None, workspace: str = "", **fields: Any
) -> dict[str, Any]:
    whose = scope(store, user) | {"agent_id": agent} | ({"workspace_id": workspace} if workspace else {})
    return {"scope": whose, "type": "fact", "content": content, **fields}


def save(store: Store, *items: Any) -> list[dict[str, Any]]:
    answer = store.send("POST", "memories/batch", {"items": items}, status=200)
    assert [each["index"] for each in answer["results"]] == [*range(len(items))]
    results: list[dict[str, Any]] = answer["results"]
    return results


def asked(store: Store, query: dict[str, Any]) -> dict[str, Any]:
    given = {"workspace": str(store.workspace), "user_id": "u1"} | query
    return {name: value for name, value in given.items() if value is not None}


def delete(store: Store, **query: Any) -> int:
    answer = store.send("DELETE", "memories/batch", None, status=200, query=asked(store, query))
    return int(answer["deleted"])
