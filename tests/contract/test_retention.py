"""GET /memories/retention: what retention deleted, in numbers and in nothing else (spec: the Memories page)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction

from memories.domain.retention import Cause
from memories.services.maintain import maintain
from memories.services.purge import purge
from memories.store import retention as store_retention
from omnia.api import workers
from omnia.api.principal import Role
from omnia.core.actor import Actor
from omnia.core.cron import Cron
from omnia.core.scope import Tier
from omnia.metrics import exposition
from tests.callers import caller
from tests.support import Store, fill, new_workspace, opened_store, run, select

pytestmark = pytest.mark.django_db
HOURLY = Cron.parse("0 * * * *")
NOON = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
JUNE = {"from": "2026-06-01T00:00:00Z", "to": "2026-07-01T00:00:00Z"}


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store() as opened:
        yield opened


def told(store: Store, period: Mapping[str, str] | None = None, *, status: int = 200) -> dict[str, Any]:
    return store.get("memories/retention", status=status, **{"user_id": None} | dict(period or {}))


def expired(store: Store, rows: int, **owner: Any) -> None:
    fill(store.workspace, rows, **owner)
    run("UPDATE memories_memory SET expires_at = %s WHERE expires_at IS NULL", NOON - DAY)


def maintained(at: datetime) -> None:
    maintain(schedule=HOURLY, trash_retention=30 * DAY, clock=lambda: at)


def counted(store: Store, day: datetime, tier: Tier, cause: Cause, rows: int) -> None:
    store_retention.add(Counter({(store.workspace, tier): rows}), cause=cause, now=day)


def test_the_answer_has_the_shape_of_the_contract(store: Store) -> None:
    expired(store, 2)
    expired(store, 3, user="u1")
    fill(store.workspace, 1, user="u1")
    run(
        "UPDATE memories_memory SET retired_as = 'forgotten', retired_at = %s WHERE expires_at IS NULL", NOON - 31 * DAY
    )
    maintained(NOON)
    answer = told(store, JUNE)
    assert answer.pop("next_run") > "2026"
    assert answer == {
        "workspace_id": str(store.workspace),
        "from": "2026-06-01T00:00:00Z",
        "to": "2026-07-01T00:00:00Z",
        "totals": {"expired": 5, "purged": 1, "consent_revoked": 0},
        "days": [
            {"date": "2026-06-01", "tier": "institutional", "expired": 2, "purged": 0, "consent_revoked": 0},
            {"date": "2026-06-01", "tier": "user", "expired": 3, "purged": 1, "consent_revoked": 0},
        ],
        "last_run": {"started_at": "2026-06-01T12:00:00Z", "finished_at": "2026-06-01T12:00:00Z", "deleted": 6,
                     "status": "ok"},
        "schedule": "0 * * * *",
    }  # fmt: skip


def test_before_the_first_run_there_is_none(store: Store) -> None:
    answer = told(store)
    assert answer["last_run"] is None
    assert answer["days"] == []
    assert answer["totals"] == {"expired": 0, "purged": 0, "consent_revoked": 0}


def test_the_last_run_counts_this_workspaces_rows_of_that_run_only(store: Store) -> None:
    other = Store(new_workspace(), store.client)
    expired(store, 4)
    maintained(NOON)
    expired(store, 1, user="u1")
    expired(other, 7)
    maintained(NOON + timedelta(hours=1))
    assert told(store, JUNE)["last_run"]["deleted"] == 1
    assert told(other, JUNE)["last_run"]["deleted"] == 7
    assert told(store, JUNE)["totals"]["expired"] == 5
    maintained(NOON + timedelta(hours=2))
    assert told(store, JUNE)["last_run"]["deleted"] == 0


def test_what_an_operator_purged_counts_for_the_day_and_for_no_run(store: Store) -> None:
    maintained(NOON)
    expired(store, 2)
    purge(now=NOON, trash_retention=DAY, actor=Actor("system:tests"))
    answer = told(store, JUNE)
    assert answer["totals"]["expired"] == 2
    assert answer["last_run"]["deleted"] == 0


def test_a_revocation_counts_as_one(store: Store) -> None:
    store.save("Has asthma", category="memory:health")
    body, query = {"userId": "u1", "category": "memory:health"}, {"workspace": str(store.workspace)}
    store.send("POST", "memories/consent-events", body, status=200, query=query)
    [day] = told(store)["days"]
    assert day == {"date": datetime.now(UTC).date().isoformat(), "tier": "user", "expired": 0, "purged": 0,
                   "consent_revoked": 1}  # fmt: skip


def test_what_a_person_deletes_themselves_is_not_retention(store: Store) -> None:
    store.save()
    store.send("DELETE", "memories", None, status=200, query={"workspace": str(store.workspace), "user_id": "u1"})
    assert told(store)["days"] == []


def test_only_the_days_asked_for_count(store: Store) -> None:
    for number in range(5):
        counted(store, NOON + number * DAY, Tier.USER, Cause.EXPIRED, 1)
    answer = told(store, {"from": "2026-06-02T23:00:00Z", "to": "2026-06-04T00:00:00Z"})
    assert [day["date"] for day in answer["days"]] == ["2026-06-02", "2026-06-03"]
    assert (answer["from"], answer["to"]) == ("2026-06-02T00:00:00Z", "2026-06-04T00:00:00Z")
    assert answer["totals"]["expired"] == 2


def test_days_are_those_of_utc(store: Store) -> None:
    counted(store, datetime.fromisoformat("2026-06-02T01:30:00+02:00"), Tier.USER, Cause.PURGED, 1)
    assert told(store, JUNE)["days"][0]["date"] == "2026-06-01"


def test_by_default_the_last_thirty_days_are_told_today_among_them(store: Store) -> None:
    answer = told(store)
    since, until = (datetime.fromisoformat(answer[name]) for name in ("from", "to"))
    assert until - since == 30 * DAY
    assert since < datetime.now(UTC) < until


BAD: list[dict[str, str]] = [
    {"from": "2026-06-02T00:00:00Z", "to": "2026-06-01T00:00:00Z"}, {"from": "2026-06-01T00:00:00Z", "to": "2026-06-01T00:00:00Z"},
    {"from": "2020-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, {"from": "2026-06-01"}, {"to": "soon"},
    {"from": "2099-01-01T00:00:00Z"}, {"to": "9999-12-31T23:59:59Z"}, {"to": "0001-01-01T00:00:00Z"}, {"user_id": "u1"}, {"tier": "user"},
]  # fmt: skip


@pytest.mark.parametrize("query", BAD, ids=range(len(BAD)))
def test_a_bad_question_is_refused(store: Store, query: dict[str, str]) -> None:
    told(store, query, status=400)


def test_viewers_read_and_nobody_else(store: Store) -> None:
    """Security case 189: of another workspace nothing is told."""
    told(Store(store.workspace, caller(Role.VIEWER)))
    told(Store(store.workspace, caller(Role.OWNER, workspaces=frozenset({new_workspace()}))), status=404)
    assert told(Store(store.workspace, caller(subject="u1")), status=403)["code"] == "bound_to_a_user"


def test_security_189_another_workspaces_numbers_are_not_told(store: Store) -> None:
    counted(store, NOON, Tier.USER, Cause.EXPIRED, 5)
    other = Store(new_workspace(), store.client)
    assert told(other, JUNE)["totals"]["expired"] == 0


def test_numbers_are_all_there_is(store: Store) -> None:
    memory = store.save("SECRET-TEXT", user="SECRET-USER", agent="SECRET-AGENT")["memory"]["id"]
    run("UPDATE memories_memory SET expires_at = now() - interval '1 day'")
    maintained(datetime.now(UTC))
    answer = str(told(store))
    assert "'expired': 1" in answer
    assert not any(word in answer for word in ("SECRET", memory))


def test_a_run_that_goes_on_or_failed_says_so(store: Store) -> None:
    maintained(NOON)
    for status, finished in (("running", None), ("failed", NOON)):
        run("UPDATE memories_maintenance_run SET status = %s, finished_at = %s", status, finished)
        last = told(store)["last_run"]
        assert (last["status"], last["finished_at"] is None) == (status, finished is None)


def test_the_schedule_is_the_one_in_force(store: Store, settings: Any) -> None:
    settings.OMNIA = replace(settings.OMNIA, maintenance_schedule=Cron.parse("30 2 * * *"))
    answer = told(store)
    assert answer["schedule"] == "30 2 * * *"
    assert answer["next_run"].endswith("T02:30:00Z")


# Metrics


def told_by_prometheus(name: str) -> dict[str, float]:
    lines = exposition().decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)}


def test_prometheus_counts_by_tier_and_cause_whatever_the_workspace(store: Store) -> None:
    other = Store(new_workspace(), store.client)
    for place in (store, other):
        counted(place, NOON, Tier.USER, Cause.EXPIRED, 2)
        counted(place, NOON + DAY, Tier.AGENT, Cause.PURGED, 1)
    assert told_by_prometheus("omnia_memory_retention_deleted_total") == {
        'omnia_memory_retention_deleted_total{cause="expired",tier="user"}': 4,
        'omnia_memory_retention_deleted_total{cause="purged",tier="agent"}': 2,
    }


def test_prometheus_is_told_when_a_task_last_did_its_work() -> None:
    class Task:
        name = "memories.tasks.maintain"

    name = 'omnia_memory_worker_last_success_timestamp_seconds{name="maintain"}'
    workers.note_success(sender=Task, result=workers.NOTHING_DUE)
    assert name not in told_by_prometheus("omnia_memory_worker")
    workers.note_success(sender=Task, result="done")
    run("UPDATE omnia_worker_success SET at = at - interval '1 hour'")
    before = told_by_prometheus(name)[name]
    workers.note_success(sender=Task, result="done")
    assert told_by_prometheus(name)[name] > before + 3599
    [row] = select("SELECT count(*) AS rows FROM omnia_worker_success")
    assert row["rows"] == 1


def test_a_task_that_had_nothing_to_do_is_no_success_of_maintenance() -> None:
    from memories import tasks

    assert tasks.maintenance() == "done"
    assert tasks.maintenance() == workers.NOTHING_DUE


def test_a_store_that_is_away_leaves_the_numbers_out_and_the_rest_in() -> None:
    with transaction.atomic():
        run("ALTER TABLE memories_retention_count RENAME TO gone")
        run("SAVEPOINT told")
        text = exposition().decode()
        run("ROLLBACK TO told")
        run("ALTER TABLE gone RENAME TO memories_retention_count")
    assert "omnia_memory_retention_deleted" not in text
    assert "omnia_memory_saves" in text
