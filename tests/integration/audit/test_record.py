"""The audit trail: written with the change, never changed, never content (reference: Audit; security case Q 317)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError, connection, transaction

from omnia.audit import record
from omnia.audit.models import AuditRow
from omnia.core.actor import Actor
from omnia.core.scope import Scope

pytestmark = pytest.mark.django_db

WORKSPACE, MEMORY, TOKEN = UUID(int=1), UUID(int=2), UUID(int=3)
ACTOR = Actor("token:ci", subject="u-1", request_id="r-1", ip="2001:db8::1", user_agent="curl/8")
SCOPE = Scope(WORKSPACE, user="test-user", agent="helper")


def test_a_row_names_who_and_what_and_the_person_by_a_pseudonym():
    record.memory_created(scope=SCOPE, actor=ACTOR, memory=MEMORY, reason="new", metadata={"tier": "user"})
    row: dict[str, Any] = dict(AuditRow.objects.values().get())
    assert row.pop("id").version == 7
    assert row.pop("at").tzinfo is not None
    assert row == {
        "event": "memory_created",
        "workspace_id": WORKSPACE,
        "actor": "token:ci",
        "subject_hash": "f85ac825d102b9f2",
        "memory_id": MEMORY,
        "request_id": "r-1",
        "ip": "2001:db8::1",
        "user_agent": "curl/8",
        "reason": "new",
        "metadata": {"tier": "user"},
    }


def test_a_row_costs_one_statement(monkeypatch):
    sent = []
    monkeypatch.setattr(record, "execute", lambda sql, row: sent.append(sql))
    record.memory_updated(scope=SCOPE, actor=ACTOR, memory=MEMORY)
    assert len(sent) == 1


@pytest.mark.parametrize(
    "event",
    ["memory_created", "memory_updated", "memory_merged", "memory_accessed", "memory_deleted", "memory_restored"],
)
def test_each_event_of_a_memory_has_its_name(event):
    getattr(record, event)(scope=Scope(WORKSPACE), actor=Actor("system:maintenance"), memory=MEMORY)
    assert list(AuditRow.objects.values_list("event", "subject_hash", "memory_id", "ip")) == [(event, "", MEMORY, None)]


def test_a_blocked_write_has_no_memory():
    record.memory_write_blocked(scope=SCOPE, actor=ACTOR, reason="consent_denied")
    assert list(AuditRow.objects.values_list("event", "memory_id", "reason")) == [
        ("memory_write_blocked", None, "consent_denied")
    ]


@pytest.mark.parametrize("event", ["policy_created", "policy_changed", "policy_deleted"])
def test_each_event_of_a_policy_names_it(event):
    getattr(record, event)(actor=ACTOR, policy="default", metadata={"generation": 2})
    assert list(AuditRow.objects.values_list("event", "metadata")) == [(event, {"policy": "default", "generation": 2})]


@pytest.mark.parametrize("event", ["token_created", "token_revoked"])
def test_each_event_of_a_token_names_it(event):
    getattr(record, event)(actor=ACTOR, token=TOKEN)
    assert list(AuditRow.objects.values_list("event", "metadata")) == [(event, {"token": str(TOKEN)})]


def test_a_row_goes_when_the_change_does():
    with transaction.atomic():
        record.memory_created(scope=SCOPE, actor=ACTOR, memory=MEMORY)
        transaction.set_rollback(True)
    assert not AuditRow.objects.exists()


def test_what_a_client_chooses_is_cut_to_what_a_row_holds():
    long = Actor("token:" + "n" * 300, request_id="r" * 300, user_agent="u" * 300)
    record.record("x", workspace=None, actor=long, reason="w" * 300)
    assert [
        len(text) for text in AuditRow.objects.values_list("actor", "request_id", "user_agent", "reason").get()
    ] == [
        200,
        128,
        200,
        200,
    ]


@pytest.mark.parametrize(
    "statement", ["UPDATE omnia_audit SET reason = 'x'", "DELETE FROM omnia_audit", "TRUNCATE omnia_audit"]
)
def test_a_row_can_be_neither_changed_nor_removed(statement):
    record.memory_created(scope=SCOPE, actor=ACTOR, memory=MEMORY)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE omnia_audit ENABLE TRIGGER omnia_audit_no_truncate"
        )  # the tests' own cleaning is off
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            cursor.execute(statement)
        cursor.execute("ALTER TABLE omnia_audit DISABLE TRIGGER omnia_audit_no_truncate")
    assert AuditRow.objects.count() == 1
