"""Reads are counted off the request path (design: access counts; behaviour case 114)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, InterfaceError, connection

from memories.services import accesses
from memories.services.accesses import MOST_NOTED, Accesses
from memories.store import memories
from omnia.metrics import ACCESSES_DROPPED
from tests.support import Store, opened_store, run

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Accesses:
    """Counts as the process does, written when the test says so."""
    counting = Accesses(every_seconds=3600)
    monkeypatch.setattr(counting, "_start", lambda: None)
    monkeypatch.setattr(accesses._Process, "accesses", counting)
    return counting


def counts(store: Store) -> list[int]:
    return [row["access_count"] for row in store.rows("access_count")]


@pytest.mark.django_db
class TestCounting:
    def test_behaviour_114_what_was_returned_is_counted_once_written(self, store: Store, noted: Accesses) -> None:
        memory = store.save("Keeps bees")["memory"]
        store.save("Likes tea", user="u2")
        assert store.recall("bees")["memories"][0]["access_count"] == 0
        store.recall("bees")
        store.open(memory["id"])
        assert counts(store) == [0, 0]
        assert noted.flush() == 1
        assert counts(store) == [3, 0]
        found = store.recall("bees")["memories"][0]
        assert found["access_count"] == 3
        assert found["accessed_at"] > memory["created_at"]
        assert found["updated_at"] == memory["updated_at"]

    def test_nothing_noted_writes_nothing(self, store: Store, noted: Accesses, django_assert_num_queries: Any) -> None:
        store.recall("bees")
        with django_assert_num_queries(0):
            assert noted.flush() == 0

    def test_shared_memories_tell_nobody_what_others_ask(self, store: Store, noted: Accesses) -> None:
        store.keep("Everybody's bees")
        store.keep("The agent's bees", agent="a1")
        store.recall("bees", agent="a1")
        assert noted.flush() == 0

    def test_the_latest_reading_counts_whatever_order_it_is_written_in(self, store: Store) -> None:
        memory = UUID(store.save("Keeps bees")["memory"]["id"])
        for now in (NOW, NOW - timedelta(days=1)):
            memories.count_accesses({memory: (1, now)})
        [row] = store.rows("accessed_at, access_count")
        assert (row["accessed_at"], row["access_count"]) == (NOW, 2)

    def test_what_is_gone_is_passed_over(self, store: Store, noted: Accesses) -> None:
        store.save("Keeps bees")
        store.recall("bees")
        run("DELETE FROM memories_memory")
        assert noted.flush() == 0

    def test_of_too_many_those_read_longest_ago_are_not_counted(self, noted: Accesses) -> None:
        first, second = uuid4(), uuid4()
        before = ACCESSES_DROPPED._value.get()
        noted.note([first, second, *(uuid4() for _ in range(MOST_NOTED - 2))], now=NOW)
        noted.note([first], now=NOW)
        noted.note([uuid4()], now=NOW)
        assert len(noted._noted) == MOST_NOTED
        assert noted._noted[first] == (2, NOW)
        assert second not in noted._noted
        assert ACCESSES_DROPPED._value.get() == before + 1

    def test_a_child_of_the_process_counts_for_itself(self, noted: Accesses) -> None:
        noted.note([uuid4()], now=NOW)
        accesses._forked()
        assert accesses._Process.accesses is None

    @pytest.mark.parametrize("error", [DatabaseError, InterfaceError])
    def test_a_store_that_is_away_costs_the_counts(
        self, noted: Accesses, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
    ) -> None:
        def away(_: Any) -> int:
            raise error

        monkeypatch.setattr(memories, "count_accesses", away)
        noted.note([uuid4()], now=NOW)
        assert noted.flush() == 0

    def test_switched_off_it_notes_nothing(self) -> None:
        off = Accesses(every_seconds=0)
        off.note([uuid4()], now=NOW)
        assert off._noted == {}


@pytest.mark.django_db(transaction=True)
class TestTogether:
    def test_the_thread_writes_and_the_end_writes_the_rest(self, store: Store) -> None:
        memory = UUID(store.save("Keeps bees")["memory"]["id"])
        counting = Accesses(every_seconds=0.01)
        counting.note([memory], now=NOW)
        for _ in range(500):
            if counts(store) == [1]:
                break
            threading.Event().wait(0.01)
        counting.note([memory], now=NOW)
        counting.stop()
        assert counts(store) == [2]

    def test_a_row_that_is_held_is_not_waited_for(self, store: Store) -> None:
        held, free = (UUID(store.save(text)["memory"]["id"]) for text in ("Keeps bees", "Likes tea"))
        taken, done = threading.Event(), threading.Event()

        def hold() -> None:
            with connection.cursor() as cursor:
                cursor.execute("BEGIN")
                cursor.execute("SELECT 1 FROM memories_memory WHERE id = %s FOR UPDATE", [held])
                taken.set()
                done.wait(30)
                cursor.execute("ROLLBACK")
            connection.close()

        holder = threading.Thread(target=hold)
        holder.start()
        taken.wait(30)
        try:
            assert memories.count_accesses({held: (1, NOW), free: (1, NOW)}) == 1
        finally:
            done.set()
            holder.join()
        assert counts(store) == [0, 1]
