"""POST /memories/supersede: one text in the place of several memories (behaviour G 86, 87; security K 223)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from memories.domain.about import About
from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from tests.callers import caller
from tests.naming import named
from tests.support import Meanwhile, Store, Table, contents, ids, opened_store, run

pytestmark = pytest.mark.django_db
FACTS = ("Keeps bees", "Has sold honey since spring", "Wears a veil when it is windy")
TOGETHER = "A beekeeper who sells honey"


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


def test_three_memories_give_way_to_one_text_under_the_first_id(store: Store) -> None:
    first, second, third = kept(store)
    result = supersede(store, [first, second, third])
    assert result["action"] == "superseded"
    assert result["supersede_reason"] == "supersede_many"
    assert result["supersedes"] == [first, second, third]
    assert (result["memory"]["id"], result["memory"]["content"]) == (first, TOGETHER)
    for answer in (store.recall("bees honey veil"), store.browse(), store.search("honey"), store.browse(agent="*")):
        assert contents(answer) == [TOGETHER]
    for gone in (second, third):
        assert store.open(gone, status=404)["code"] == "memory_not_found"
        store.forget(gone, status=404)
    rows = store.rows("retired_as, superseded_by_id, updated_at = retired_at AS moved")
    assert [row["retired_as"] for row in rows] == [None, "superseded", "superseded"]
    assert {str(row["superseded_by_id"]) for row in rows[1:]} == {first}
    assert [row["moved"] for row in rows[1:]] == [True, True]


def test_the_earlier_wordings_stay(store: Store) -> None:
    first, second, third = kept(store)
    before = store.open(first)
    after = supersede(store, [first, second, third])["memory"]
    [old] = store.history(first)["wordings"]
    assert (old["content"], old["reason"], old["actor"]) == (FACTS[0], "supersede_many", "token:owner")
    assert [row["content"] for row in store.rows("content")] == [TOGETHER, *FACTS[1:]]
    assert (after["created_at"], after["updated_at"] > before["updated_at"]) == (before["created_at"], True)


def test_what_is_gone_is_not_merged_into(store: Store) -> None:
    supersede(store, kept(store))
    again = store.save(FACTS[1])
    assert again["action"] == "added"


def test_the_text_is_embedded_and_indexed_anew(store: Store) -> None:
    sources = kept(store)
    [before] = store.rows("embedding::text AS vector")[:1]
    supersede(store, sources)
    [after] = store.rows("embedding::text AS vector, tsv::text AS words")[:1]
    assert after["vector"] != before["vector"]
    assert "'beekeep'" in after["words"]


def test_a_text_superseded_while_the_embedder_is_down_gets_its_vector_later() -> None:
    table = Table()
    with opened_store(embedder=table) as store:
        sources = kept(store)
        table.fails = True
        assert supersede(store, sources)["memory"]["embedding_status"] == "pending"
        assert contents(store.recall("beekeeper")) == [TOGETHER]


def test_a_vector_of_another_title_is_not_kept() -> None:
    table = Meanwhile()
    with opened_store(embedder=table) as store:
        sources = kept(store)
        table.then = lambda: run("UPDATE memories_memory SET title = 'Other' WHERE id = %s", sources[0])
        assert supersede(store, sources)["memory"]["embedding_status"] == "pending"


def test_type_and_confidence_are_the_firsts_unless_they_are_stated(store: Store) -> None:
    first = store.save("One", confidence=0.4, type="preference")["memory"]["id"]
    kept_as_it_was = supersede(store, [first])["memory"]
    assert (kept_as_it_was["type"], kept_as_it_was["confidence"]) == ("preference", 0.4)
    stated = supersede(store, [first], type="general", confidence=0)["memory"]
    assert (stated["type"], stated["confidence"]) == ("general", 0.0)


def test_who_said_it_where_and_about_what_survives(store: Store) -> None:
    first = store.save("One", provenance="user_requested", about={"kind": "user", "key": "job"}, container="c",
                       metadata={"a": "1"}, title="Work", session_id="s")["memory"]  # fmt: skip
    after = supersede(store, [first["id"], *kept(store)])["memory"]
    for field in ("evidence_class", "source_type", "about", "container", "metadata", "title", "session_id"):
        assert after[field] == first[field]


EXPIRIES: list[tuple[list[int | None], str, int | None]] = [
    # days the sources have left (None: for ever), maxAge, days the text has
    ([5, 9], "", 9),
    ([9, 5], "", 9),
    ([5, None], "", None),
    ([5, None], "30d", 30),
    ([5, 9], "7d", 7),
]


@pytest.mark.parametrize(("days", "longest", "left"), EXPIRIES)
def test_it_lasts_as_long_as_any_of_them_within_max_age(days: list[int | None], longest: str, left: int | None) -> None:
    with opened_store(policy={"tiers": {"user": {"ttl": {"maxAge": longest}}}}) as store:
        sources = kept(store)[: len(days)]
        for source, count in zip(sources, days, strict=True):
            run("UPDATE memories_memory SET expires_at = now() + %s * interval '1 day' WHERE id = %s", count, source)
        supersede(store, sources)
        [row, *_] = store.rows("extract(day FROM expires_at - now() + interval '1 hour')::int AS days")
    assert row["days"] == left


def test_it_is_as_sensitive_as_any_of_them(store: Store) -> None:
    plain = store.save("Runs every day", category="memory:preferences")["memory"]["id"]
    ill = store.save("Takes pills against asthma", category="memory:health")["memory"]["id"]
    assert supersede(store, [plain, ill])["memory"]["consent_category"] == "memory:health"


def test_an_id_named_twice_counts_once(store: Store) -> None:
    first, second, _ = kept(store)
    assert supersede(store, [first, second, first, second])["supersedes"] == [first, second]
    assert len(ids(store.browse())) == 2


@pytest.fixture
def foreign(store: Store) -> dict[str, str]:
    """Ids that are no live memories of u1's."""
    first, second, third = (store.save(text)["memory"]["id"] for text in ("Sails", "Rows", "Swims"))
    run("UPDATE memories_memory SET expires_at = now() WHERE id = %s", second)
    store.forget(first)
    supersede(store, [store.save("Dives")["memory"]["id"], third])
    with opened_store() as other:
        elsewhere = other.save()["memory"]["id"]
    return {
        "unknown": "01a22e4f-594c-7c82-ac0e-e4e65dff07c8",
        "no id": "nonsense",
        "forgotten": first,
        "expired": second,
        "superseded": third,
        "another user's": store.save(user="u2")["memory"]["id"],
        "for an agent": store.save(agent="a1")["memory"]["id"],
        "institutional": str(store.keep("Closed on Sundays").memory["id"]),
        "another workspace's": elsewhere,
    }


KINDS = ("unknown", "no id", "forgotten", "expired", "superseded", "another user's", "for an agent", "institutional",
         "another workspace's")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0, 1, 50])
def test_one_foreign_id_among_ones_own_changes_nothing(
    store: Store, foreign: dict[str, str], kind: str, place: int
) -> None:
    own = [str(store.keep(f"Own fact {number}", user="u1", about=About.of("n", str(number))).memory["id"])
           for number in range(50)]  # fmt: skip
    before = store.rows("id, content, updated_at, retired_as")
    refused = supersede(store, [*own[:place], foreign[kind], *own[place:]], status=404)
    assert refused["code"] == "memory_not_found"
    assert "not found in scope" in refused["detail"]
    assert store.rows("id, content, updated_at, retired_as") == before


def test_a_source_forgotten_meanwhile_changes_nothing() -> None:
    table = Meanwhile()
    with opened_store(embedder=table) as store:
        sources = kept(store)
        table.then = lambda: run("UPDATE memories_memory SET retired_at = now(), retired_as = 'forgotten' WHERE id = %s",
                                 sources[1])  # fmt: skip
        supersede(store, sources, status=404)
        assert store.open(sources[0])["content"] == FACTS[0]


BAD: list[tuple[dict[str, Any], str, str]] = [
    # the fields, the code, where
    ({"source_ids": []}, "invalid", "/source_ids"),
    ({"source_ids": None}, "invalid", "/source_ids"),
    ({"source_ids": "abc"}, "invalid", "/source_ids"),
    ({"source_ids": [1]}, "invalid", "/source_ids/0"),
    ({"source_ids": ["x"] * 101}, "invalid", "/source_ids"),
    ({"content": None}, "invalid", "/content"),
    ({"content": " "}, "content_empty", "/content"),
    ({"content": "x" * 8193}, "body_too_large", "/content"),
    ({"confidence": 2}, "invalid", "/confidence"),
    ({"type": "chunk"}, "tier_not_allowed", ""),
    ({"type": "nope"}, "type_not_declared", ""),
    ({"scope": {"virtual_user_id": "u1"}}, "workspace_required", "/workspace"),
]


@pytest.mark.parametrize(("fields", "code", "pointer"), BAD, ids=named)
def test_a_body_at_fault_changes_nothing(store: Store, fields: dict[str, Any], code: str, pointer: str) -> None:
    sources = kept(store)
    refused = supersede(store, **{"sources": sources, **fields}, status=400)
    assert refused["code"] == code
    assert [each["pointer"] for each in refused.get("errors", [])] == ([pointer] if pointer else [])
    assert sorted(contents(store.browse())) == sorted(FACTS)


@pytest.mark.parametrize("missing", ["source_ids", "content"])
def test_ids_and_content_are_required(store: Store, missing: str) -> None:
    body = {"scope": scope(store), "source_ids": kept(store), "content": TOGETHER}
    body.pop(missing)
    refused = store.send("POST", "memories/supersede", body, status=400)
    assert (refused["errors"][0]["pointer"], refused["errors"][0]["code"]) == (f"/{missing}", "required")


def test_a_user_is_required(store: Store) -> None:
    body = {"scope": {"workspace_id": str(store.workspace)}, "source_ids": kept(store), "content": TOGETHER}
    assert store.send("POST", "memories/supersede", body, status=400)["code"] == "user_required"


def test_a_type_that_needs_a_key_needs_the_first_source_to_have_one() -> None:
    with opened_store(policy={"dedup": {"requireAboutForKinds": ["preference"]}}) as store:
        loose, kept_under_a_key = kept(store)[0], store.save("One", about={"kind": "a", "key": "b"})["memory"]["id"]
        assert supersede(store, [loose], type="preference", status=400)["code"] == "about_required"
        assert supersede(store, [kept_under_a_key], type="preference")["memory"]["type"] == "preference"


@pytest.mark.parametrize(("role", "status"), [(Role.VIEWER, 403), (Role.EDITOR, 200), (Role.OWNER, 200)])
def test_editors_and_above_supersede(store: Store, role: Role, status: int) -> None:
    sources = kept(store)
    supersede(Store(store.workspace, caller(role)), sources, status=status)


def test_a_bound_token_supersedes_its_users_memories_only(store: Store) -> None:
    sources = kept(store)
    supersede(Store(store.workspace, caller(Role.EDITOR, subject="u2")), sources, status=403)
    bound = Store(store.workspace, caller(Role.EDITOR, subject="u1"))
    body = {"scope": {"workspace_id": str(store.workspace)}, "source_ids": sources, "content": TOGETHER}
    assert bound.send("POST", "memories/supersede", body, status=200)["action"] == "superseded"


def test_each_row_has_its_audit(store: Store) -> None:
    sources = kept(store)
    supersede(store, sources)
    rows = AuditRow.objects.filter(workspace_id=store.workspace, reason="supersede_many").order_by("memory_id")
    assert [(row.event, str(row.memory_id), row.actor) for row in rows] == [
        ("memory_updated", source, "token:owner") for source in sources
    ]
    assert [row.metadata.get("superseded_by") for row in rows] == [None, sources[0], sources[0]]
    assert len({row.metadata["after"] for row in rows}) == 1
    assert len({row.metadata["before"] for row in rows}) == 3
    assert TOGETHER not in str([row.metadata for row in rows])


def test_a_key_answers_twice_and_changes_once(store: Store) -> None:
    sources = kept(store)
    once = supersede(store, sources, headers={"Idempotency-Key": "k"})
    assert supersede(store, sources, headers={"Idempotency-Key": "k"}) == once
    assert len(store.history(sources[0])["wordings"]) == 1
    supersede(store, sources, status=404)


def test_it_settles_what_the_first_contradicted(store: Store) -> None:
    about = {"kind": "user", "key": "cats"}
    first = store.save("Has 2 cats", about=about)["memory"]["id"]
    store.save("Has 3 cats", about=about)
    supersede(store, [first, *kept(store)])
    assert store.get("memories/conflicts")["total"] == 0


def kept(store: Store) -> list[str]:
    return [store.save(text)["memory"]["id"] for text in FACTS]


def scope(store: Store) -> dict[str, str]:
    return {"workspace_id": str(store.workspace), "virtual_user_id": "u1"}


def supersede(
    store: Store, sources: list[Any] | list[UUID], *, status: int = 200, headers: Any = None, **fields: Any
) -> dict[str, Any]:
    body = {"scope": scope(store), "source_ids": sources, "content": TOGETHER, **fields}
    return store.send("POST", "memories/supersede", body, status=status, headers=headers)
