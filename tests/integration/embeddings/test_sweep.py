"""Late vectors: who gets one, who is blamed, who is given up, and that nobody waits for another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.db import connection

from memories import tasks
from memories.embeddings import current
from memories.embeddings.base import EmbeddingFailed, Vector
from memories.embeddings.hashing import HashingEmbedder
from memories.models import EmbeddingModel, Memory
from memories.services.embed import BATCH, FIRST_PAUSE, LEASE, OUTAGE_PAUSE, Swept, embed_pending, wanted, workable
from memories.store import unembedded
from memories.store.unembedded import ATTEMPTS
from omnia.schedule import SCHEDULE
from policies.models import Workspace

NOW = datetime(2026, 3, 1, tzinfo=UTC)
POISON = "poison"


@dataclass
class Clock:
    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Model:
    """A model one can break: for everybody, or for texts that hold the word poison."""

    name: str = "test-384"
    dimensions: int = 384
    down: bool = False
    seen: list[str] = field(default_factory=list)
    before: Callable[[], object] = lambda: None

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | None]:
        self.before()
        self.seen += texts
        if self.down or any(POISON in text for text in texts):
            raise EmbeddingFailed("broken", permanent=not self.down)
        return HashingEmbedder().embed_passages(texts)

    def embed_query(self, text: str) -> Vector | None:
        return self.embed_passages([text])[0]


@pytest.fixture
def model() -> Iterator[Model]:
    model = Model()
    with current.use(model):
        yield model


@pytest.fixture
def clock() -> Clock:
    return Clock()


def waiting(content: str = "Alice likes tea", **columns: Any) -> Memory:
    workspace, _ = Workspace.objects.get_or_create(name="w")
    given = {"tier": 2, "user_id": "u", "type": "fact", "evidence_class": "explicit", "source_type": "user"}
    row = {**given, "confidence": 0.9, "embed_after": NOW, "content": content, "workspace": workspace, **columns}
    return Memory.objects.create(**row)


def reread(row: Memory) -> Memory:
    return Memory.objects.get(pk=row.pk)


@pytest.mark.django_db
class TestOneSweep:
    def test_a_due_row_gets_the_vector_of_its_text(self, model: Model, clock: Clock) -> None:
        row = waiting("Alice likes tea", title="Drinks", embed_attempts=2)
        assert embed_pending(clock=clock) == Swept(embedded=1)
        after = reread(row)
        expected = HashingEmbedder().embed_query("Drinks\nAlice likes tea")
        assert expected is not None
        assert np.allclose(after.embedding, expected, atol=1e-3)
        assert after.embedding_model == EmbeddingModel.objects.get(name="test-384", dimensions=384)
        assert (after.embed_after, after.embed_attempts) == (None, 0)

    def test_a_vector_is_no_news_for_readers(self, model: Model, clock: Clock) -> None:
        row = reread(waiting())
        embed_pending(clock=clock)
        assert reread(row).updated_at == row.updated_at

    @pytest.mark.parametrize(
        "columns",
        [
            {"embed_after": None},
            {"embed_after": NOW + timedelta(microseconds=1)},
            {"expires_at": NOW},
            {"retired_at": NOW, "retired_as": "forgotten"},
            {"retired_at": NOW - timedelta(days=1), "retired_as": "superseded"},
        ],
    )
    def test_a_row_that_is_not_due_or_no_longer_lives_is_left(self, model: Model, clock: Clock, columns) -> None:
        waiting(**columns)
        assert embed_pending(clock=clock) == Swept()
        assert model.seen == []

    def test_it_goes_on_until_nothing_is_due(self, model: Model, clock: Clock) -> None:
        rows = [waiting(f"fact {n}") for n in range(2 * BATCH + 1)]
        assert embed_pending(clock=clock).embedded == len(rows)

    def test_it_stops_when_its_time_is_spent(self, model: Model, clock: Clock) -> None:
        def pass_time() -> None:
            clock.now += timedelta(seconds=1)

        model.before = pass_time
        for n in range(3 * BATCH):
            waiting(f"fact {n}")
        assert embed_pending(clock=clock, budget=timedelta(seconds=2)).embedded == 2 * BATCH

    def test_run_twice_it_does_nothing_more(self, model: Model, clock: Clock) -> None:
        waiting()
        embed_pending(clock=clock)
        model.seen.clear()
        assert embed_pending(clock=clock) == Swept()
        assert model.seen == []

    def test_without_an_embedder_rows_wait(self, clock: Clock) -> None:
        row = waiting()
        with current.use(None):
            assert embed_pending(clock=clock) == Swept()
        assert reread(row).embed_after == NOW

    def test_the_task_is_in_the_schedule_and_sweeps(self, model: Model) -> None:
        row = waiting()
        assert tasks.embed_pending.name in {entry["task"] for entry in SCHEDULE.values()}
        tasks.embed_pending()
        assert reread(row).embedding is not None


@pytest.mark.django_db
class TestOutage:
    def test_late_vectors_merge_nothing(self, model: Model, clock: Clock) -> None:
        """Security case 58: what was two memories while the provider was away stays two."""
        same = [waiting("Alice likes tea") for _ in range(3)]
        model.down = True
        embed_pending(clock=clock)
        model.down = False
        clock.now += OUTAGE_PAUSE
        assert embed_pending(clock=clock) == Swept(embedded=3)
        assert all(reread(row).retired_at is None and reread(row).evidence_count == 1 for row in same)

    def test_rows_wait_without_blame(self, model: Model, clock: Clock) -> None:
        rows = [waiting(f"fact {n}") for n in range(3)]
        model.down = True
        for _ in range(3 * ATTEMPTS):
            assert embed_pending(clock=clock) == Swept()
            clock.now += OUTAGE_PAUSE
        assert [reread(row).embed_attempts for row in rows] == [0, 0, 0]

    def test_after_recovery_the_vector_comes_with_the_next_sweeps(self, model: Model, clock: Clock) -> None:
        """The spec of the save: within 60 s."""
        row = waiting()
        model.down = True
        embed_pending(clock=clock)
        model.down = False
        clock.now += timedelta(seconds=60 - SCHEDULE["embed-pending"]["schedule"])
        assert embed_pending(clock=clock) == Swept(embedded=1)
        assert reread(row).embedding is not None

    def test_an_outage_costs_one_batch_and_not_the_backlog(self, model: Model, clock: Clock) -> None:
        for n in range(3 * BATCH):
            waiting(f"fact {n}")
        model.down = True
        embed_pending(clock=clock)
        assert len(model.seen) == BATCH + 1  # and the harmless text that was tried

    def test_rows_of_a_worker_that_died_are_due_again_within_a_minute(self, model: Model, clock: Clock) -> None:
        row = waiting()
        unembedded.claim(wanted(workable()), limit=BATCH, now=NOW, lease=NOW + LEASE)
        assert embed_pending(clock=clock) == Swept()
        clock.now += timedelta(seconds=60 - SCHEDULE["embed-pending"]["schedule"])
        assert embed_pending(clock=clock) == Swept(embedded=1)
        assert reread(row).embedding is not None


@pytest.mark.django_db
class TestPoison:
    def test_it_blocks_no_other(self, model: Model, clock: Clock) -> None:
        good = [waiting(f"fact {n}") for n in range(BATCH)]
        bad = waiting(POISON)
        assert embed_pending(clock=clock) == Swept(embedded=BATCH, refused=1)
        assert all(reread(row).embedding is not None for row in good)
        assert reread(bad).embed_attempts == 1

    def test_it_is_tried_ever_later_and_given_up(self, model: Model, clock: Clock) -> None:
        bad = waiting(POISON)
        pauses = []
        for _ in range(ATTEMPTS - 1):
            assert embed_pending(clock=clock) == Swept(refused=1)
            due = reread(bad).embed_after
            assert due is not None
            pauses.append(due - clock.now)
            clock.now = due
        assert pauses == [FIRST_PAUSE * 2**n for n in range(ATTEMPTS - 1)]
        assert embed_pending(clock=clock) == Swept(refused=1, given_up=1)
        assert reread(bad).embed_after is None
        clock.now += timedelta(days=1)
        assert embed_pending(clock=clock) == Swept()

    def test_its_text_is_not_logged(self, model: Model, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
        waiting(POISON, embed_attempts=ATTEMPTS - 1)
        embed_pending(clock=clock)
        assert caplog.records
        assert POISON not in caplog.text

    def test_a_text_of_no_words_is_refused_alone(self, model: Model, clock: Clock) -> None:
        waiting("…")
        waiting("tea")
        assert embed_pending(clock=clock) == Swept(embedded=1, refused=1)


@pytest.mark.django_db
class TestChangedMeanwhile:
    @pytest.mark.parametrize("change", [{"content": "Alice likes milk"}, {"title": "Drinks"}])
    def test_a_row_reworded_while_the_model_works_does_not_get_the_old_vector(
        self, model: Model, clock: Clock, change: dict[str, str]
    ) -> None:
        row = waiting()
        later = NOW + timedelta(seconds=1)
        model.before = lambda: Memory.objects.filter(pk=row.pk).update(embed_after=later, **change)
        assert embed_pending(clock=clock) == Swept()
        assert (reread(row).embedding, reread(row).embed_after) == (None, later)

    def test_a_failure_does_not_put_off_a_row_reworded_meanwhile(self, model: Model, clock: Clock) -> None:
        row = waiting(POISON)
        later = NOW + timedelta(seconds=1)
        model.before = lambda: Memory.objects.filter(pk=row.pk).update(embed_after=later, content="tea")
        embed_pending(clock=clock)
        assert (reread(row).embed_after, reread(row).embed_attempts) == (later, 0)

    def test_a_vector_that_came_meanwhile_stays(self, model: Model, clock: Clock) -> None:
        row = waiting()
        given = {"embedding": [1, 0], "embedding_model_id": current.seat().model_row_id(), "embed_after": None}
        model.before = lambda: Memory.objects.filter(pk=row.pk).update(**given)
        assert embed_pending(clock=clock) == Swept()
        assert reread(row).embedding == [1, 0]

    def test_a_deleted_row_is_no_matter(self, model: Model, clock: Clock) -> None:
        row = waiting()
        model.before = lambda: Memory.objects.filter(pk=row.pk).delete()
        assert embed_pending(clock=clock) == Swept()

    def test_the_model_works_outside_any_transaction(self, clock: Clock, transactional_db: None) -> None:
        model, waits = Model(), []
        model.before = lambda: waits.append(connection.in_atomic_block)
        with current.use(model):
            waiting()
            embed_pending(clock=clock)
        assert waits == [False]


@pytest.mark.django_db(transaction=True)
def test_two_workers_share_the_rows(model: Model) -> None:
    rows = [waiting(f"fact {n}") for n in range(4 * BATCH)]
    both = threading.Barrier(2)
    swept: list[Swept] = []

    def work() -> None:
        try:
            both.wait()
            swept.append(embed_pending(clock=Clock()))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(swept, Swept()) == Swept(embedded=len(rows))
    assert sorted(model.seen) == sorted(row.content for row in rows)


@pytest.mark.django_db(transaction=True)
def test_rows_another_worker_is_taking_are_skipped(model: Model) -> None:
    held, free = waiting("held"), waiting("free")
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        from django.db import transaction

        try:
            with transaction.atomic():
                list(Memory.objects.select_for_update().filter(pk=held.pk))
                locked.set()
                done.wait(10)
        finally:
            connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    locked.wait(10)
    try:
        assert [row.id for row in unembedded.claim(wanted(workable()), limit=BATCH, now=NOW, lease=NOW + LEASE)] == [
            free.pk
        ]
    finally:
        done.set()
        thread.join()


@pytest.mark.django_db
def test_finding_due_rows_reads_the_index_of_those_that_wait() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "memory_unembedded" in unembedded._due(NOW).order_by("embed_after")[:BATCH].explain()


@pytest.mark.django_db
class TestModelRow:
    def test_a_row_that_was_rolled_back_is_made_again(self, model: Model) -> None:
        first = current.seat().model_row_id()
        EmbeddingModel.objects.all().delete()
        assert current.seat().model_row_id() != first

    @pytest.mark.django_db(transaction=True)
    def test_once_committed_it_is_remembered(self, model: Model, django_assert_num_queries) -> None:
        first = current.seat().model_row_id()
        with django_assert_num_queries(0):
            assert current.seat().model_row_id() == first

    def test_a_known_model_keeps_its_row(self, model: Model) -> None:
        """A restart finds the vectors it left."""
        first = current.seat().model_row_id()
        with current.use(Model()):
            assert current.seat().model_row_id() == first
        with current.use(Model(name="another-384")):
            assert current.seat().model_row_id() != first
