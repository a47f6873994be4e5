"""Writers at the same time: one text is one row, one key is one memory, one key of a request is one answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from memories.domain.about import About
from memories.domain.relation import Relation
from memories.domain.save import SaveCommand, SupersedeCommand
from memories.services import relate as relations
from memories.services.forget import forget, forget_everything, forget_oldest
from memories.services.history import history
from memories.services.relate import RelationWriter
from memories.services.remember_all import Save, remember_all
from memories.services.supersede import supersede
from omnia.core.actor import Actor
from omnia.core.errors import NotFound
from tests.contract.graphs import kept, opened_graph, relate
from tests.support import Store, fill, opened_store, select

pytestmark = pytest.mark.django_db(transaction=True)
WRITERS, ROUNDS = 8, 200


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        opened.policy()
        yield opened


@pytest.fixture
def together() -> Iterator[Callable[[Callable[[int], Any]], list[Any]]]:
    """Runs one function in every writer at the same moment, and answers what each came to."""
    start = threading.Barrier(WRITERS)

    def work(act: Callable[[int], Any], number: int) -> Any:
        start.wait(timeout=30)
        return act(number)

    def all_at_once(act: Callable[[int], Any]) -> list[Any]:
        return [each.result() for each in [pool.submit(work, act, number) for number in range(WRITERS)]]

    with ThreadPoolExecutor(WRITERS) as pool:
        yield all_at_once
        all_at_once(lambda _: connection.close())


def test_eight_writers_of_one_new_text_make_one_row_each_round(store: Store, together: Any) -> None:
    for number in range(ROUNDS):
        user = f"u{number}"
        results = together(lambda _, user=user: store.keep("Ann keeps bees in the garden", user=user))
        assert sorted(result.action for result in results) == ["added"] + ["merged"] * (WRITERS - 1)
        assert len({result.memory["id"] for result in results}) == 1
    rows = store.rows("user_id, evidence_count")
    assert len(rows) == ROUNDS
    assert {row["evidence_count"] for row in rows} == {2}


def test_eight_writers_of_one_key_keep_one_memory_and_every_wording(store: Store, together: Any) -> None:
    about = About.of("user", "city")
    results = together(lambda number: store.keep(f"Lives in town {number}", user="u1", about=about))
    assert sorted(result.action for result in results) == ["added"] + ["auto_superseded"] * (WRITERS - 1)
    [row] = store.rows("id, content")
    earlier = history(row["id"], scope=store.scope(), now=datetime.now(UTC))
    assert {row["content"], *(each["content"] for each in earlier)} == {f"Lives in town {n}" for n in range(WRITERS)}


def test_writers_of_different_users_do_not_merge(store: Store, together: Any) -> None:
    results = together(lambda number: store.keep("Ann keeps bees", user=f"u{number}"))
    assert {result.action for result in results} == {"added"}


def test_a_memory_is_forgotten_once(store: Store, together: Any) -> None:
    memory = store.keep("Ann keeps bees", user="u1").memory["id"]

    def act(_: int) -> bool:
        try:
            forget(memory, scope=store.scope(), now=datetime.now(UTC), actor=Actor("system:tests"))
        except NotFound:
            return False
        return True

    assert sorted(together(act)) == [False] * (WRITERS - 1) + [True]
    events = select("SELECT 1 FROM omnia_audit WHERE event = 'memory_deleted'")
    assert len(events) == 1


def test_saves_and_forgetting_lose_no_answer(store: Store, together: Any) -> None:
    """Whoever was told "kept" after the last forgetting finds the text; nothing deadlocks."""
    memory = store.keep("Ann keeps bees", user="u1").memory["id"]

    def act(number: int) -> Any:
        if number == 0:
            return forget(memory, scope=store.scope(), now=datetime.now(UTC), actor=Actor("system:tests"))
        return store.keep("Ann keeps bees", user="u1").memory["id"]

    kept = set(together(act)) - {None, memory}
    live = select("SELECT id FROM memories_memory WHERE retired_at IS NULL")
    assert {row["id"] for row in live} == kept
    assert len(live) <= 1


def test_forget_everything_waits_for_the_saves_before_it(store: Store, together: Any) -> None:
    for _ in range(5):

        def act(number: int) -> Any:
            if number < 2:
                return forget_everything(store.scope(), actor=Actor("system:tests"))
            return store.keep(f"Ann keeps {number} hives", user="u1", agent=f"a{number % 3}" if number > 4 else None)

        together(act)
        forget_everything(store.scope(), actor=Actor("system:tests"))
        assert store.rows("id") == []
        assert select("SELECT 1 FROM memories_wording") == []


def test_one_idempotency_key_is_one_row(store: Store, together: Any) -> None:
    def act(_: int) -> int:
        body = {"scope": {"workspace_id": str(store.workspace), "user_id": "u1"}, "type": "fact", "content": "Bees"}
        answer = store.client.post("/api/v1/memories", body, content_type="application/json",
                                   headers={"Idempotency-Key": "one"})  # fmt: skip
        return int(answer.status_code)

    statuses = set(together(act))
    assert statuses <= {201, 409}
    assert 201 in statuses
    [row] = store.rows("evidence_count")
    assert row["evidence_count"] == 1


def test_batches_that_name_owners_in_any_order_end(store: Store, together: Any) -> None:
    """Each item holds one owner's lock: circles of waiting writers cannot come to be."""
    policy, owners = store.policy(), [f"u{number}" for number in range(WRITERS)]

    def act(number: int) -> list[Any]:
        turned = owners[number:] + owners[:number]
        saves = [Save(SaveCommand(store.scope(user), "fact", "Ann keeps bees"), policy) for user in turned]
        return remember_all(saves, now=datetime.now(UTC), actor=Actor("system:tests"))

    actions = [result.action for results in together(act) for result in results]
    assert sorted(actions) == ["added"] * WRITERS + ["merged"] * WRITERS * (WRITERS - 1)
    assert sorted(row["user_id"] for row in store.rows("user_id")) == owners


def test_memories_give_way_to_one_text_once(store: Store, together: Any) -> None:
    sources = tuple(store.keep(text, user="u1").memory["id"] for text in ("Keeps bees", "Sails a boat"))
    policy = store.policy()

    def act(number: int) -> bool:
        command = SupersedeCommand(store.scope(), sources, f"Text of writer {number}")
        try:
            supersede(command, policy=policy, now=datetime.now(UTC), actor=Actor("system:tests"))
        except NotFound:
            return False
        return True

    assert sorted(together(act)) == [False] * (WRITERS - 1) + [True]
    assert [row["retired_as"] for row in store.rows("retired_as")] == [None, "superseded"]
    assert len(select("SELECT 1 FROM memories_wording")) == 1


def test_deleting_in_parts_counts_each_row_once(store: Store, together: Any) -> None:
    fill(store.workspace, 100, user="u1")
    counts = together(lambda _: forget_oldest(store.scope(), limit=15, actor=Actor("system:tests")))
    assert sum(counts) == 100
    assert store.rows("id") == []


def test_writers_read_what_the_former_committed(store: Store) -> None:
    """The lock guards reads only under READ COMMITTED: a snapshot taken before it would miss the former's row."""
    assert select("SHOW transaction_isolation") == [{"transaction_isolation": "read committed"}]


def test_eight_writers_of_one_relation_make_one_edge(together: Any) -> None:
    with opened_graph() as graph:
        graph.policy()
        for number in range(ROUNDS // 4):
            one, other = kept(graph, f"one {number}"), kept(graph, f"other {number}", user=None)
            answers = together(lambda _, one=one, other=other: relate(graph, one, other))
            assert len({answer["id"] for answer in answers}) == 1
        assert len(select("SELECT id FROM memories_edge")) == ROUNDS // 4
        assert len(select("SELECT 1 FROM omnia_audit WHERE event = 'relation_created'")) == ROUNDS // 4


def test_relating_while_everything_is_forgotten_leaves_no_edge_and_no_error(together: Any) -> None:
    """Half of the writers relate a user's memory to an agent's; the others forget all of either owner."""
    with opened_graph() as graph:
        graph.policy()
        for number in range(ROUNDS // 2):
            mine, shared = kept(graph, f"m {number}"), kept(graph, f"a {number}", user=None, agent="a1")

            def act(writer: int, mine: str = mine, shared: str = shared) -> None:
                if writer % 2:
                    owner = graph.scope() if writer % 4 == 1 else graph.scope(None, "a1")
                    forget_everything(owner, actor=Actor("system:tests"))
                    return
                ends = (mine, shared) if writer % 4 else (shared, mine)
                with suppress(NotFound):
                    related(graph, *ends)

            together(act)
        assert select("SELECT id FROM memories_edge") == []


def related(graph: Store, source: str, target: str) -> UUID:
    writer = RelationWriter(graph.scope("u1", "a1"), actor=Actor("system:tests"), shared_refusal=None)
    relation = Relation(UUID(source), UUID(target), "related_to")
    return relations.relate(relation, writer=writer, policy=graph.policy(), now=datetime.now(UTC))
