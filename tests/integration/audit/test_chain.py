"""The chain over the audit trail: a row changed or taken out is noticed (security case Q 317)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection

from omnia.audit import chain, record
from omnia.audit.chain import seal_all, seal_pending, verify
from omnia.audit.models import AuditRow, AuditSeal
from omnia.core.actor import Actor
from omnia.core.scope import Scope
from omnia.schedule import SCHEDULE

SCOPE = Scope(UUID(int=1), user="test-user")
ACTOR = Actor("token:ci", request_id="r-1", ip="2001:db8::1", user_agent="curl/8")


def write(rows: int = 1) -> None:
    for number in range(rows):
        record.memory_created(scope=SCOPE, actor=ACTOR, memory=UUID(int=number), metadata={"score": 0.1 + number})


@contextmanager
def tampering() -> Iterator[Any]:
    """Somebody who owns the tables switches the triggers off."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield cursor
        cursor.execute("SET LOCAL session_replication_role = origin")


@pytest.mark.django_db
class TestSealing:
    def test_rows_are_sealed_once_in_their_order(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(chain, "BATCH", 2)
        write(5)
        assert [seal_pending(), seal_pending()] == [5, 0]
        write(2)
        assert seal_pending() == 2
        assert list(AuditSeal.objects.order_by("seq").values_list("audit_id", flat=True)) == list(
            AuditRow.objects.order_by("id").values_list("id", flat=True)
        )
        verdict = verify()
        assert (verdict.sealed, verdict.unsealed, verdict.faults) == (7, 0, [])

    def test_a_row_committed_late_is_sealed_by_the_next_sweep(self) -> None:
        write(2)
        late = AuditRow.objects.earliest("id")
        with tampering() as cursor:
            cursor.execute("DELETE FROM omnia_audit WHERE id = %s", [late.id])
        seal_pending()
        late.save(force_insert=True)
        assert seal_pending() == 1
        assert verify().faults == []

    def test_a_row_by_a_clock_far_behind_is_found_by_the_whole_search(self) -> None:
        write()
        seal_pending()
        AuditRow.objects.create(id=UUID(int=7 << 76), event="memory_created", actor="token:ci")
        assert (seal_pending(), verify().unsealed, seal_all(), verify().unsealed) == (0, 1, 1, 0)

    def test_an_empty_trail_is_whole(self) -> None:
        assert seal_pending() == 0
        assert verify() == chain.Verdict(0, 0, "00" * 32, [])

    def test_it_is_swept(self) -> None:
        assert "omnia.audit.tasks.seal_audit" in {entry["task"] for entry in SCHEDULE.values()}


TAMPERED: dict[str, Callable[[Any], object]] = {
    "a field": lambda cursor: cursor.execute("UPDATE omnia_audit SET reason = 'x' WHERE memory_id = %s", [UUID(int=2)]),
    "who": lambda cursor: cursor.execute("UPDATE omnia_audit SET actor = 'x' WHERE memory_id = %s", [UUID(int=2)]),
    "when": lambda cursor: cursor.execute(
        "UPDATE omnia_audit SET at = at - interval '1 microsecond' WHERE memory_id = %s", [UUID(int=2)]
    ),
    "the facts": lambda cursor: cursor.execute(
        """UPDATE omnia_audit SET metadata = '{"score": 0.1}' WHERE memory_id = %s""", [UUID(int=2)]
    ),
    "a row taken out": lambda cursor: cursor.execute("DELETE FROM omnia_audit WHERE memory_id = %s", [UUID(int=2)]),
    "a row and its seal": lambda cursor: cursor.execute(
        "DELETE FROM omnia_audit_seal WHERE seq = 3; DELETE FROM omnia_audit WHERE memory_id ="
        " '00000000-0000-0000-0000-000000000002'"
    ),
    "a seal": lambda cursor: cursor.execute("UPDATE omnia_audit_seal SET digest = 'x' WHERE seq = 3"),
}


@pytest.mark.django_db
class TestVerifying:
    @pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
    def test_what_was_tampered_with_is_named(self, tamper: Callable[[Any], object]) -> None:
        write(5)
        seal_pending()
        with tampering() as cursor:
            tamper(cursor)
        assert any(" 3" in fault or " 4" in fault for fault in verify().faults)
        with pytest.raises(CommandError, match="faults"):
            call_command("verify_audit", stdout=StringIO())

    def test_a_chain_made_anew_without_the_key_does_not_verify(self, settings: Any) -> None:
        write(3)
        seal_pending()
        with tampering() as cursor:
            cursor.execute("DELETE FROM omnia_audit_seal; UPDATE omnia_audit SET actor = 'nobody'")
        settings.OMNIA = replace(settings.OMNIA, pseudonym_key="a guess")
        seal_all()
        settings.OMNIA = replace(settings.OMNIA, pseudonym_key="")
        assert len(verify().faults) == 3
        assert all("another key" in fault for fault in verify().faults)

    def test_a_chain_cut_short_is_noticed_by_who_kept_its_head(self) -> None:
        write(3)
        seal_pending()
        head = verify().head
        with tampering() as cursor:
            cursor.execute("DELETE FROM omnia_audit_seal WHERE seq = 3")
            cursor.execute("DELETE FROM omnia_audit WHERE memory_id = %s", [UUID(int=2)])
        assert verify().faults == []
        assert "not in the chain" in verify(expected_head=head).faults[0]
        with pytest.raises(CommandError, match="not in the chain"):
            call_command("verify_audit", expect=head, stdout=StringIO())

    def test_a_head_of_before_is_in_a_chain_that_grew(self) -> None:
        write(3)
        seal_pending()
        head = verify().head
        write(2)
        said = StringIO()
        call_command("verify_audit", seal=True, expect=head, stdout=said)
        assert "The chain is whole" in said.getvalue()

    @pytest.mark.parametrize("table", ["omnia_audit", "omnia_audit_seal"])
    @pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {} SET id = id", "TRUNCATE {}"])
    def test_the_database_refuses_changes(self, table: str, change: str) -> None:
        write()
        seal_pending()
        key = "id" if table == "omnia_audit" else "seq"
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER {table}_no_truncate")
        with connection.cursor() as cursor, pytest.raises(DatabaseError, match="append-only"):
            cursor.execute(change.replace("id", key).format(table))


@pytest.mark.django_db(transaction=True)
def test_two_sweeps_at_once_make_one_chain() -> None:
    write(300)

    def sweep(_: int) -> int:
        try:
            return seal_pending()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(sweep, range(4)))
    assert sum(counts) + seal_pending() == 300
    assert verify().faults == []
