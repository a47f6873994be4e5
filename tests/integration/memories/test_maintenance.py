"""Maintenance: what is due goes for good, once for each time the schedule names, whoever is told and whoever dies."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.core.cache import cache
from django.db import DatabaseError, connection, connections, transaction

from memories import tasks
from memories.services import purge as purging
from memories.services.forget import forget_everything
from memories.services.maintain import maintain
from memories.services.purge import Purged
from memories.store import removal, runs
from memories.store.locks import owner_lock
from omnia.core.actor import Actor
from omnia.core.cron import Cron
from omnia.core.scope import Tier
from omnia.schedule import SCHEDULE
from tests.support import Store, fill, opened_store, run, select

pytestmark = pytest.mark.django_db(transaction=True)
EVERY_MINUTE, HOURLY = Cron.parse("* * * * *"), Cron.parse("0 * * * *")
NOON = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
TELLERS = 8


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        opened.policy()
        yield opened


@pytest.fixture
def together() -> Iterator[Callable[[Callable[[], Any]], list[Any]]]:
    """Runs one function in several workers at the same moment, and answers what each came to."""
    start = threading.Barrier(TELLERS)

    def work(act: Callable[[], Any]) -> Any:
        start.wait(timeout=30)
        return act()

    def all_at_once(act: Callable[[], Any]) -> list[Any]:
        return [each.result() for each in [pool.submit(work, act) for _ in range(TELLERS)]]

    with ThreadPoolExecutor(TELLERS) as pool:
        yield all_at_once
        all_at_once(connections.close_all)


def told(at: datetime, *, schedule: Cron = EVERY_MINUTE, **wishes: Any) -> Purged | None:
    """What a worker does that is told of maintenance at that moment."""
    return maintain(schedule=schedule, trash_retention=30 * DAY, **{"clock": lambda: at} | wishes)


def expired(store: Store, rows: int, *, at: datetime = NOON, **owner: Any) -> None:
    """Rows that expire at that moment."""
    fill(store.workspace, rows, **owner)
    run("UPDATE memories_memory SET expires_at = %s WHERE expires_at IS NULL", at)


def finished_runs() -> list[datetime]:
    return [row["due_at"] for row in select("SELECT due_at FROM memories_maintenance_run WHERE status = 'ok'"
                                            " ORDER BY due_at")]  # fmt: skip


# Once, whoever is told


def test_of_all_who_are_told_at_once_one_runs_each_time(store: Store, together: Any) -> None:
    for minute in range(20):
        expired(store, 3, user="u1", at=NOON + minute * MINUTE)
        outcomes = together(lambda at=NOON + minute * MINUTE: told(at))
        assert sorted(outcomes, key=bool) == [None] * (TELLERS - 1) + [Purged(3, 0, complete=True)]
    assert finished_runs() == [NOON + minute * MINUTE for minute in range(20)]
    assert select("SELECT sum(rows)::int AS rows FROM memories_retention_count") == [{"rows": 60}]


def test_told_again_for_the_same_time_nobody_runs(store: Store, together: Any) -> None:
    told(NOON)
    expired(store, 1)
    assert set(together(lambda: told(NOON + 59 * timedelta(seconds=1)))) == {None}
    assert len(store.rows("id")) == 1


def test_a_flushed_redis_neither_repeats_nor_skips_a_run(store: Store) -> None:
    told(NOON)
    cache.clear()
    assert told(NOON) is None
    cache.clear()
    expired(store, 2)
    assert told(NOON + MINUTE) == Purged(2, 0, complete=True)


@pytest.mark.usefixtures("store")
def test_after_an_outage_one_run_stands_for_all_that_were_missed(together: Any) -> None:
    told(NOON, schedule=HOURLY)
    late = NOON + timedelta(hours=5, minutes=37)
    outcomes = together(lambda: told(late, schedule=HOURLY))
    assert outcomes.count(None) == TELLERS - 1
    assert set(together(lambda: told(late + MINUTE, schedule=HOURLY))) == {None}
    assert finished_runs() == [NOON, NOON + 5 * HOUR]


@pytest.mark.usefixtures("store")
def test_a_clock_that_was_set_back_repeats_nothing() -> None:
    told(NOON + HOUR)
    assert told(NOON) is None


@pytest.mark.usefixtures("store")
def test_runs_are_remembered_for_a_month() -> None:
    told(NOON)
    told(NOON + 29 * DAY)
    told(NOON + 31 * DAY)
    assert finished_runs() == [NOON + 29 * DAY, NOON + 31 * DAY]


# Whoever dies


@pytest.fixture
def claimed(store: Store) -> runs.Claim:
    """A worker that claimed the run of noon and was never heard of again."""
    with transaction.atomic():
        claim = runs.claim(due=NOON, now=NOON)
    assert claim is not None
    expired(store, 5)
    return claim


@pytest.mark.usefixtures("claimed")
def test_a_run_that_is_held_is_left_alone_until_its_lease_ends(together: Any) -> None:
    before = NOON + runs.LEASE - timedelta(seconds=1)
    assert set(together(lambda: told(before))) == {None}
    outcomes = together(lambda: told(NOON + runs.LEASE))
    assert sorted(outcomes, key=bool) == [None] * (TELLERS - 1) + [Purged(5, 0, complete=True)]


def test_a_worker_that_comes_back_late_writes_nothing(store: Store, claimed: runs.Claim) -> None:
    told(NOON + runs.LEASE)
    with pytest.raises(runs.RunLost):
        claimed.hold(now=NOON + runs.LEASE)
    claimed.fail(now=NOON + HOUR)
    [row] = select("SELECT status FROM memories_maintenance_run")
    assert row["status"] == "ok"
    assert store.rows("id") == []


def test_a_run_taken_over_in_the_middle_goes_on_there(store: Store) -> None:
    """The first worker is rolled back in its second batch: each row is counted once."""
    expired(store, 25)
    clock = iter([NOON, NOON, NOON, NOON])

    def take_over() -> datetime:
        at = next(clock, None)
        if at is None:
            run("UPDATE memories_maintenance_run SET holder = gen_random_uuid()")
        return at or NOON

    with patch.object(purging, "BATCH", 10):
        assert told(NOON, clock=take_over) is None
        assert 0 < len(store.rows("id")) < 25
        assert told(NOON + runs.LEASE) is not None
    assert store.rows("id") == []
    assert select("SELECT sum(rows)::int AS rows FROM memories_retention_count") == [{"rows": 25}]


def test_a_run_that_fails_says_so_and_is_tried_again_a_minute_later(store: Store) -> None:
    expired(store, 2)
    with patch.object(removal, "delete", side_effect=DatabaseError("gone")), pytest.raises(DatabaseError):
        told(NOON)
    assert [row["status"] for row in select("SELECT status FROM memories_maintenance_run")] == ["failed"]
    assert len(store.rows("id")) == 2
    assert told(NOON + timedelta(seconds=59)) is None
    assert told(NOON + runs.RETRY, schedule=HOURLY) == Purged(2, 0, complete=True)
    assert finished_runs() == [NOON]


def test_a_worker_turns_to_other_things_and_the_run_goes_on_when_told_again(store: Store) -> None:
    expired(store, 25)
    seconds = iter(range(100))

    def clock() -> datetime:
        return NOON + timedelta(seconds=next(seconds))

    with patch.object(purging, "BATCH", 10):
        first = told(NOON, clock=clock, budget=timedelta(seconds=2))
        assert first == Purged(10, 0, complete=False)
        assert told(NOON + MINUTE) == Purged(15, 0, complete=True)
    assert finished_runs() == [NOON + MINUTE]
    [count] = select("SELECT rows, run_rows FROM memories_retention_count")
    assert count == {"rows": 25, "run_rows": 25}


# What goes


def test_behaviour_141_what_expired_goes_on_every_tier_and_the_rest_stays(store: Store) -> None:
    owners: list[dict[str, Any]] = [{}, {"agent": "a1"}, {"user": "u1"}, {"user": "u1", "agent": "a1"}]
    for owner in owners:
        expired(store, 2, **owner)
        fill(store.workspace, 1, **owner)
        run("UPDATE memories_memory SET expires_at = %s WHERE expires_at IS NULL", NOON + timedelta(seconds=1))
    assert told(NOON) == Purged(8, 0, complete=True)
    assert [row["tier"] for row in store.rows("tier")] == [0, 1, 2, 3]
    counts = select("SELECT tier, cause, rows, day FROM memories_retention_count ORDER BY tier")
    assert counts == [{"tier": tier.code, "cause": "expired", "rows": 2, "day": NOON.date()} for tier in Tier]


def test_behaviour_143_without_a_policy_what_a_writer_let_expire_goes_too(store: Store) -> None:
    """The spec has maintenance delete what is expired; that a policy were needed for it is said nowhere."""
    expired(store, 1)
    assert told(NOON) == Purged(1, 0, complete=True)


def test_what_was_forgotten_goes_when_the_trash_period_is_over(store: Store) -> None:
    fill(store.workspace, 3, user="u1")
    old, young, _live = [row["id"] for row in store.rows("id")]
    forget = "UPDATE memories_memory SET retired_as = 'forgotten', retired_at = %s WHERE id = %s"
    run(forget, NOON - 30 * DAY, old)
    run(forget, NOON - 30 * DAY + timedelta(seconds=1), young)
    assert told(NOON) == Purged(0, 1, complete=True)
    assert old not in [row["id"] for row in store.rows("id")]
    assert told(NOON + MINUTE) == Purged(0, 1, complete=True)


def test_what_expires_in_the_trash_goes_as_expired(store: Store) -> None:
    expired(store, 1)
    run("UPDATE memories_memory SET retired_as = 'forgotten', retired_at = %s", NOON)
    assert told(NOON) == Purged(1, 0, complete=True)


def test_rows_that_somebody_holds_are_left_for_the_next_run(store: Store) -> None:
    expired(store, 3)
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            select("SELECT id FROM memories_memory ORDER BY id LIMIT 1 FOR UPDATE")
            held.set()
            let_go.wait(timeout=30)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(hold)
        held.wait(timeout=30)
        try:
            assert told(NOON) == Purged(2, 0, complete=True)
        finally:
            let_go.set()
        holding.result()
    assert told(NOON + MINUTE) == Purged(1, 0, complete=True)


def test_an_owner_who_is_writing_is_passed_over_and_nobody_waits(store: Store) -> None:
    """Waiting for each other's rows and relations, a purge and "forget everything" would never end."""
    for user in ("u1", "u2"):
        expired(store, 2, user=user)
    held, let_go = threading.Event(), threading.Event()

    def write() -> None:
        with transaction.atomic():
            owner_lock(store.scope("u1"))
            held.set()
            let_go.wait(timeout=30)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        held.wait(timeout=30)
        try:
            assert told(NOON) == Purged(2, 0, complete=True)
        finally:
            let_go.set()
        writing.result()
    assert {row["user_id"] for row in store.rows("user_id")} == {"u1"}
    assert told(NOON + MINUTE) == Purged(2, 0, complete=True)


def test_a_purge_beside_forget_everything_ends_and_counts_each_row_once(store: Store) -> None:
    for number in range(20):
        user = f"u{number}"
        expired(store, 40, user=user)
        run("INSERT INTO memories_edge (id, workspace_id, source_id, target_id, relation_type, weight, metadata)"
            " SELECT uuidv7(), a.workspace_id, a.id, b.id, 'next', 1, '{}' FROM memories_memory a, memories_memory b"
            " WHERE a.user_id = %s AND b.user_id = %s AND a.id < b.id AND random() < 0.2", user, user)  # fmt: skip

    def forgetting() -> int:
        try:
            return sum(
                forget_everything(store.scope(f"u{number}"), actor=Actor("system:tests")) for number in range(20)
            )
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool, patch.object(purging, "BATCH", 50):
        forgotten = pool.submit(forgetting)
        done = told(NOON)
        assert done is not None
        assert done.expired + forgotten.result() == 800
    assert store.rows("id") == []


def test_many_of_one_moment_go_batch_by_batch(store: Store) -> None:
    expired(store, 2_500)
    assert told(NOON) == Purged(2_500, 0, complete=True)
    events = select("SELECT metadata FROM omnia_audit WHERE event = 'memory_expired' ORDER BY id")
    assert [row["metadata"] for row in events] == [
        f'{{"tiers": {{"institutional": {rows}}}, "deleted": {rows}}}' for rows in (1000, 1000, 500)
    ]


def test_the_audit_names_the_workspace_and_numbers_only(store: Store) -> None:
    expired(store, 1, user="SECRET-USER", text="SECRET-TEXT")
    told(NOON)
    [event] = select("SELECT event, workspace_id, actor, subject_hash, memory_id, reason FROM omnia_audit"
                     " WHERE event <> 'token_created'")  # fmt: skip
    assert event == {"event": "memory_expired", "workspace_id": store.workspace, "actor": "system:maintenance",
                     "subject_hash": "", "memory_id": None, "reason": ""}  # fmt: skip


# How it is told


def test_what_beat_tells_is_the_task_and_often_enough_for_a_schedule_of_minutes() -> None:
    entry = SCHEDULE["maintain"]
    assert entry["task"] == tasks.maintenance.name
    assert entry["schedule"] <= 30


def test_the_task_follows_the_settings_and_the_databases_clock(store: Store, settings: Any) -> None:
    expired(store, 1, at=datetime.now(UTC) - DAY)
    tasks.maintenance()
    assert store.rows("id") == []
    [run] = select("SELECT due_at FROM memories_maintenance_run")
    assert run["due_at"] == settings.OMNIA.maintenance_schedule.latest(run["due_at"])
