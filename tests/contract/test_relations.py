"""Relations: what may be related to what, and that one relation is one edge (spec: schema.relations)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from memories.models import Edge
from omnia.audit.models import AuditRow
from tests.contract.graphs import NOBODY, kept, listed, opened_graph, relate, removed
from tests.naming import named
from tests.support import Store, opened_store, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_graph() as opened:
        yield opened


def test_a_relation_is_made_listed_from_both_ends_and_removed(store: Store) -> None:
    one, other = kept(store, "one"), kept(store, "other")
    edge = relate(store, one, other, "causes", weight=0.25, metadata={"why": "said so"})["id"]
    for memory, direction in ((one, "outgoing"), (other, "incoming")):
        answer = listed(store, memory)
        [shown] = answer["relations"]
        assert shown.pop("created_at").endswith("Z")
        assert shown == {"id": edge, "source_id": one, "target_id": other, "relation_type": "causes", "weight": 0.25,
                         "metadata": {"why": "said so"}, "direction": direction}  # fmt: skip
        assert (answer["total"], answer["next"]) == (1, None)
    assert removed(store, edge) == {"status": "deleted", "id": edge}
    assert listed(store, one) == {"relations": [], "total": 0, "next": None}
    assert removed(store, edge, status=404)["code"] == "relation_not_found"


def test_weight_and_metadata_have_defaults(store: Store) -> None:
    one = kept(store, "one")
    relate(store, one, kept(store, "other"))
    [shown] = listed(store, one)["relations"]
    assert (shown["weight"], shown["metadata"]) == (1.0, {})


def test_a_relation_stated_twice_is_one_edge_with_the_newer_weight(store: Store) -> None:
    one, other = kept(store, "one"), kept(store, "other")
    first = relate(store, one, other, weight=0.3, metadata={"n": "1"})
    assert relate(store, one, other, weight=0.9, metadata={"n": "2"}) == first
    [shown] = listed(store, one)["relations"]
    assert (shown["weight"], shown["metadata"]) == (0.9, {"n": "2"})
    assert relate(store, other, one) != first
    assert relate(store, one, other, "causes") != first
    assert listed(store, one)["total"] == 3


SCHEMAS: list[tuple[str, str, str, str | None]] = [
    # source type, relation, target type, the code of the refusal
    ("control", "implements", "policy", None),
    ("policy", "implements", "control", "relation_not_allowed"),
    ("control", "implements", "control", "relation_not_allowed"),
    ("fact", "implements", "policy", "relation_not_allowed"),
    ("fact", "related_to", "preference", None),
    ("fact", "Related_to", "fact", "relation_not_declared"),
    ("fact", "contains", "fact", "relation_not_declared"),
    ("section", "part_of", "document", "relation_not_declared"),
]


@pytest.mark.parametrize(("source_type", "relation", "target_type", "code"), SCHEMAS)
def test_the_schema_of_the_policy_says_what_may_be_related(
    store: Store, source_type: str, relation: str, target_type: str, code: str | None
) -> None:
    source, target = kept(store, "one"), kept(store, "other")
    for memory, type_name in ((source, source_type), (target, target_type)):
        run("UPDATE memories_memory SET type = %s WHERE id = %s", type_name, memory)
    answer = relate(store, source, target, relation, status=400 if code else 201)
    assert answer.get("code") == code


@pytest.mark.parametrize(("relation", "status"), [("part_of", 201), ("next", 400), ("related_to", 400)])
def test_without_a_policy_schema_the_builtin_one_stands(relation: str, status: int) -> None:
    with opened_store(embeds=False) as store:
        one, other = (kept(store, text, user=None, type=name) for text, name in (("a", "chunk"), ("b", "document")))
        relate(store, one, other, relation, user=None, status=status)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"weight": -0.1}, "/weight"),
    ({"weight": 1.000001}, "/weight"),
    ({"weight": "0.5"}, "/weight"),
    ({"weight": True}, "/weight"),
    ({"weight": None}, "/weight"),
    ({"relation_type": ""}, "/relation_type"),
    ({"relation_type": "r" * 129}, "/relation_type"),
    ({"relation_type": ["related_to"]}, "/relation_type"),
    ({"metadata": []}, "/metadata"),
    ({"metadata": {"a": 1}}, "/metadata/a"),
    ({"metadata": {"a": {"b": "c"}}}, "/metadata/a"),
    ({"source_id": 5}, "/source_id"),
    ({"target_id": None}, "/target_id"),
    ({"target_id": "i" * 65}, "/target_id"),
]


@pytest.mark.parametrize(("fields", "pointer"), BAD, ids=named)
def test_a_bad_field_is_named(store: Store, fields: dict[str, Any], pointer: str) -> None:
    one, other = kept(store, "one"), kept(store, "other")
    scope = {"workspace_id": str(store.workspace), "virtual_user_id": "u1"}
    body = {"scope": scope, "source_id": one, "target_id": other, "relation_type": "related_to"} | fields
    assert store.send("POST", "relations", body, status=400)["errors"][0]["pointer"] == pointer
    assert not Edge.objects.exists()


@pytest.mark.parametrize("weight", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_weight_that_is_no_number_is_refused(store: Store, weight: str) -> None:
    one, other = kept(store, "one"), kept(store, "other")
    body = (f'{{"scope": {{"workspace_id": "{store.workspace}", "user_id": "u1"}}, "source_id": "{one}",'
            f' "target_id": "{other}", "relation_type": "related_to", "weight": {weight}}}')  # fmt: skip
    store.send("POST", "relations", body, status=400)


@pytest.mark.parametrize("weight", ["NaN", "Infinity", "-0.01", "1.01"])
def test_the_database_refuses_a_weight_outside_its_range(store: Store, weight: str) -> None:
    relate(store, kept(store, "one"), kept(store, "other"))
    with pytest.raises(IntegrityError), transaction.atomic():
        run("UPDATE memories_edge SET weight = %s::float8", weight)


@pytest.mark.parametrize("missing", ["scope", "source_id", "target_id", "relation_type"])
def test_what_is_missing_is_named(store: Store, missing: str) -> None:
    one, other = kept(store, "one"), kept(store, "other")
    scope = {"workspace_id": str(store.workspace), "virtual_user_id": "u1"}
    body = {"scope": scope, "source_id": one, "target_id": other, "relation_type": "related_to"}
    del body[missing]
    refused = store.send("POST", "relations", body, status=400)
    assert refused["code"] == ("workspace_required" if missing == "scope" else "invalid")


@pytest.mark.parametrize("ident", [NOBODY, "not-a-uuid", "", "018f0000"])
def test_an_end_that_is_none_of_ours_is_404(store: Store, ident: str) -> None:
    one = kept(store, "one")
    relate(store, one, ident, status=404)
    relate(store, ident, one, status=404)
    if ident:
        listed(store, ident, status=404)
        removed(store, ident, status=404)


def test_a_memory_is_not_related_to_itself(store: Store) -> None:
    one = kept(store, "one")
    assert relate(store, one, one, status=400)["code"] == "relation_to_itself"


def test_a_list_needs_its_memory(store: Store) -> None:
    assert store.get("relations", status=400)["errors"][0]["pointer"] == "/memory_id"


def test_a_list_is_paged_heaviest_first(store: Store) -> None:
    hub = kept(store, "hub")
    weights = [0.1, 0.5, 0.5, 0.5, 0.9, 1 / 3, 0.7]
    for number, weight in enumerate(weights):
        relate(
            store,
            *((hub, kept(store, f"n{number}")) if number % 2 else (kept(store, f"n{number}"), hub)),
            weight=weight,
        )
    whole = listed(store, hub)
    assert [shown["weight"] for shown in whole["relations"]] == sorted(weights, reverse=True)
    paged: list[Any] = []
    cursor = None
    while cursor or not paged:
        page = listed(store, hub, limit="2", **({"cursor": cursor} if cursor else {}))
        assert page["total"] == len(weights)
        paged += page["relations"]
        cursor = page["next"]
    assert paged == whole["relations"]
    assert listed(store, hub, offset="5")["relations"] == whole["relations"][5:]
    assert listed(store, hub, cursor="x", status=400)["code"] == "invalid_cursor"


def test_who_related_what_is_recorded_without_a_word_of_it(store: Store) -> None:
    one, other = kept(store, "SECRETWORD"), kept(store, "other")
    edge = relate(store, one, other, metadata={"why": "SECRETWORD"})["id"]
    relate(store, one, other)
    removed(store, edge)
    rows = AuditRow.objects.filter(workspace_id=store.workspace, event__startswith="relation_").order_by("id")
    assert [row.event for row in rows] == ["relation_created", "relation_changed", "relation_deleted"]
    for row in rows:
        assert str(row.memory_id) == one
        assert row.metadata == {"relation": edge, "target": other, "relation_type": "related_to"}
        assert row.subject_hash not in ("", "u1")


def test_a_refused_relation_leaves_no_record(store: Store) -> None:
    relate(store, kept(store, "one"), kept(store, "other"), "undeclared", status=400)
    assert not AuditRow.objects.filter(event__startswith="relation_").exists()


def test_a_relation_sent_twice_under_one_key_is_answered_once(store: Store) -> None:
    scope = {"workspace_id": str(store.workspace), "virtual_user_id": "u1"}
    one, other = kept(store, "one"), kept(store, "other")
    body = {"scope": scope, "source_id": one, "target_id": other, "relation_type": "related_to"}
    answers = [store.send("POST", "relations", body, status=201, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert answers[0] == answers[1]
    assert AuditRow.objects.filter(event__startswith="relation_").count() == 1
