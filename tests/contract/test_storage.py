"""What the database itself refuses and holds, whatever the code above it does (architecture: integrity in the database)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import IntegrityError, InternalError, ProgrammingError, transaction

from memories.embeddings.current import seat
from omnia.core.ids import uuid7
from tests.support import Store, fill, opened_store, run, select

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        opened.save("Keeps bees", title="Hives")
        yield opened


BROKEN = [
    # an update, the constraint it breaks
    ("tier = 0", "memory_tier_is_its_scope"),
    ("tier = 1", "memory_tier_is_its_scope"),
    ("tier = 3", "memory_tier_is_its_scope"),
    ("tier = 4", "memory_tier_is_its_scope"),
    ("agent_id = 'a1'", "memory_tier_is_its_scope"),
    ("user_id = NULL", "memory_tier_is_its_scope"),
    ("user_id = ''", "memory_scope_not_empty"),
    ("tier = 3, agent_id = ''", "memory_scope_not_empty"),
    ("content = ''", "memory_content_not_empty"),
    ("type = ''", "memory_content_not_empty"),
    ("confidence = 1.001", "memory_confidence_unit"),
    ("confidence = -0.001", "memory_confidence_unit"),
    ("confidence = 'NaN'", "memory_confidence_unit"),
    ("evidence_count = 0", "memory_evidence"),
    ("evidence_count = -1", "memories_memory_evidence_count_check"),
    ("evidence_class = 'trusted'", "memory_evidence_known"),
    ("mutability = 'frozen'", "memory_mutability_known"),
    ("retired_at = now()", "memory_retired_for_a_reason"),
    ("retired_as = 'forgotten'", "memory_retired_for_a_reason"),
    ("retired_at = now(), retired_as = 'lost'", "memory_retired_for_a_reason"),
    ("embedding_model_id = NULL", "memory_vector_has_a_model"),
    ("embedding = NULL", "memory_vector_has_a_model"),
    ("workspace_id = '018f0000-0000-7000-8000-000000000000'", "workspace"),
    ("embedding_model_id = 32000", "embedding_model"),
    ("entity_id = '018f0000-0000-7000-8000-000000000000'", "entity"),
    ("content = NULL", "content"),
    ("confidence = NULL", "confidence"),
    ("id = NULL", "id"),
]


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("change", "constraint"), BROKEN)
def test_a_memory_that_breaks_a_rule_is_refused(change: str, constraint: str) -> None:
    run("SET CONSTRAINTS ALL IMMEDIATE")
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        run(f"UPDATE memories_memory SET {change}")


def test_one_live_memory_a_key(store: Store) -> None:
    store.save("Is called Ann", about={"kind": "user", "key": "name"})
    [entity] = select("SELECT id FROM memories_entity")
    with pytest.raises(IntegrityError, match="memory_one_per_entity"), transaction.atomic():
        run("UPDATE memories_memory SET entity_id = %s", entity["id"])
    run("UPDATE memories_memory SET retired_at = now(), retired_as = 'forgotten' WHERE content = 'Keeps bees'")
    assert run("UPDATE memories_memory SET entity_id = %s", entity["id"]) == 2


@pytest.mark.parametrize(("user", "agent"), [(None, None), ("u1", None), (None, "a1"), ("u1", "a1")])
def test_one_entity_a_key_and_scope_even_where_the_scope_is_null(store: Store, user: Any, agent: Any) -> None:
    insert = (
        "INSERT INTO memories_entity (id, workspace_id, user_id, agent_id, kind, key) VALUES (%s, %s, %s, %s, 'k', 'x')"
    )
    run(insert, uuid7(), store.workspace, user, agent)
    with pytest.raises(IntegrityError, match="entity_unique_in_scope"), transaction.atomic():
        run(insert, uuid7(), store.workspace, user, agent)


EDGES = [
    # source, target, weight, relation type, the constraint it breaks
    (0, 1, 1.5, "next", "edge_weight_unit"),
    (0, 1, -0.1, "next", "edge_weight_unit"),
    (0, 1, float("nan"), "next", "edge_weight_unit"),
    (0, 0, 1, "next", "edge_not_a_loop"),
    (0, 1, 1, "", "edge_type_not_empty"),
    (0, 1, 1, "known", "edge_once"),
]


@pytest.mark.parametrize(("source", "target", "weight", "relation", "constraint"), EDGES)
def test_an_edge_that_breaks_a_rule_is_refused(
    store: Store, source: int, target: int, *, weight: float, relation: str, constraint: str
) -> None:
    store.save("Melts wax")
    rows = [row["id"] for row in store.rows("id")]
    insert = ("INSERT INTO memories_edge (id, workspace_id, source_id, target_id, relation_type, weight, metadata)"
              " VALUES (%s, %s, %s, %s, %s, %s, '{}')")  # fmt: skip
    run(insert, uuid7(), store.workspace, rows[0], rows[1], "known", 1.0)
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        run(insert, uuid7(), store.workspace, rows[source], rows[target], relation, weight)


def test_the_vector_is_stored_plain(store: Store) -> None:
    [column] = select("SELECT attstorage, format_type(atttypid, NULL) AS type FROM pg_attribute"
                      " WHERE attrelid = 'memories_memory'::regclass AND attname = 'embedding'")  # fmt: skip
    assert column == {"attstorage": "p", "type": "halfvec"}
    assert seat().model_row_id() is not None
    assert store.rows("vector_dims(embedding) AS dimensions") == [{"dimensions": 384}]


def test_the_text_index_is_generated_with_weights_and_the_scope_lexeme(store: Store) -> None:
    [row] = store.rows("tsv::text AS words")
    assert row["words"] == f"'bee':3B 'hive':1A 'keep':2B '§{store.workspace}.2'"
    with pytest.raises(ProgrammingError, match="tsv"), transaction.atomic():
        run("UPDATE memories_memory SET tsv = ''")


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "change",
    ["UPDATE omnia_audit SET actor = 'x'", "DELETE FROM omnia_audit", "UPDATE omnia_audit SET reason = reason"],
)
def test_the_audit_is_append_only(change: str) -> None:
    assert select("SELECT count(*) AS rows FROM omnia_audit")[0]["rows"] > 0
    with pytest.raises((InternalError, ProgrammingError), match="append-only"), transaction.atomic():
        run(change)


INDEXES = {
    "memory_scope": "btree (workspace_id, tier, user_id, agent_id)",
    "memory_newest": "btree (workspace_id, user_id, updated_at DESC, id DESC)",
    "memory_expiry": "btree (expires_at) WHERE (expires_at IS NOT NULL)",
    "memory_trash": "btree (retired_at) WHERE ((retired_as)::text = 'forgotten'::text)",
    "memory_shared_text": "gin (tsv) WHERE (tier <= 1)",
    **{f"memory_shared_vector_{size}": f"hnsw (((embedding)::halfvec({size})) halfvec_cosine_ops) WHERE ((tier <= 1)"
       for size in (256, 384, 512, 768, 1024, 1536)},
}  # fmt: skip


@pytest.mark.parametrize("name", INDEXES)
def test_the_indexes_are_there(name: str) -> None:
    [index] = select("SELECT indexdef FROM pg_indexes WHERE tablename = 'memories_memory' AND indexname = %s", name)
    assert INDEXES[name] in index["indexdef"]


def test_no_approximate_index_covers_the_private_tiers() -> None:
    rows = select("SELECT indexdef FROM pg_indexes WHERE tablename = 'memories_memory' AND indexdef LIKE '%%hnsw%%'")
    assert rows
    assert all("tier <= 1" in row["indexdef"] for row in rows)


def test_the_list_is_answered_by_its_index(store: Store) -> None:
    for number in range(20):
        fill(store.workspace, 200, user=f"u{number}")
    run("ANALYZE memories_memory")
    rows = select("EXPLAIN SELECT m.id FROM memories_memory m WHERE m.workspace_id = %s AND m.tier = 2 AND m.user_id = 'u1'"
                  " AND m.agent_id IS NULL ORDER BY m.updated_at DESC, m.id DESC LIMIT 20", store.workspace)  # fmt: skip
    plan = "\n".join(row["QUERY PLAN"] for row in rows)
    assert "memory_newest" in plan
    assert "Sort" not in plan
