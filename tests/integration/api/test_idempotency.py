"""A POST sent twice is done once (design: Idempotency-Key; security case 289)."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.http import HttpResponse
from django.utils import timezone

from omnia.api import idempotency
from omnia.api.models import IdempotencyRecord
from omnia.api.principal import Role
from tests.callers import bearer, caller, issue
from tests.integration.api.routes import WORKSPACE, Work

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.integration.api.routes")]
KEY = {"Idempotency-Key": "k-1"}


@pytest.fixture(autouse=True)
def runs():
    Work.runs.clear()
    return Work.runs


def post(client, body=None, *, path="/api/v1/work", headers=KEY):
    return client.post(path, {} if body is None else body, content_type="application/json", headers=headers)


def test_the_second_time_the_first_answer_comes_again(runs):
    client = caller()
    first, second = post(client, {"user": "u"}), post(client, {"user": "u"})
    assert (first.status_code, first.content) == (second.status_code, second.content)
    assert first["Content-Type"] == second["Content-Type"]
    assert "Idempotent-Replayed" not in first
    assert second["Idempotent-Replayed"] == "true"
    assert len(runs) == 1


def test_without_a_key_each_runs(runs):
    client = caller()
    post(client, headers={})
    post(client, headers={})
    assert len(runs) == 2
    assert not IdempotencyRecord.objects.exists()


def test_a_refusal_is_an_answer_too(runs):
    client = caller()
    assert [post(client, {"fail": "conflict"}).status_code for _ in range(2)] == [409, 409]
    assert len(runs) == 1


def test_a_fault_is_not_kept(runs):
    client = caller()
    assert [post(client, {"fail": "crash"}).status_code for _ in range(2)] == [500, 500]
    assert len(runs) == 2
    assert not IdempotencyRecord.objects.exists()


@pytest.mark.parametrize(("body", "path"), [({"user": "other"}, "/api/v1/work"), ({"user": "u"}, "/api/v1/work?a=1")])
def test_a_key_stands_for_one_request(body, path, runs):
    client = caller()
    post(client, {"user": "u"})
    answer = post(client, body, path=path)
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert len(runs) == 1


def test_a_key_belongs_to_its_caller(runs):
    post(caller(Role.OWNER))
    assert "Idempotent-Replayed" not in post(caller(Role.EDITOR))
    assert len(runs) == 2


@pytest.mark.parametrize("key", ["", "k" * 256])
def test_what_is_no_key_is_refused(key, runs):
    answer = post(caller(), headers={"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_idempotency_key")
    assert not runs


@pytest.mark.parametrize("key", ["k", "k" * 255, "ключ", "a b", "\x01"])
def test_any_other_text_is_a_key(key):
    assert post(caller(), headers={"Idempotency-Key": key}).status_code == 201


def age(span: timedelta, **columns: object) -> None:
    IdempotencyRecord.objects.update(created_at=timezone.now() - span, **columns)


def test_while_the_first_runs_the_second_is_told_to_wait(runs):
    client = caller()
    post(client)
    age(timedelta(seconds=50), status=None)
    answer = post(client)
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_in_progress")
    assert int(answer["Retry-After"]) > 0
    assert len(runs) == 1


def test_a_run_that_never_ended_frees_its_key_after_a_minute(runs):
    client = caller()
    post(client)
    age(timedelta(seconds=61), status=None)
    assert post(client).status_code == 201
    assert len(runs) == 2


def test_a_run_that_lost_its_key_does_not_answer_for_the_one_that_has_it(rf):
    request = rf.post("/api/v1/work")
    slow = idempotency.begin(request, key="k", caller="c", body=b"")
    assert isinstance(slow, idempotency.Run)
    age(timedelta(seconds=61))
    idempotency.begin(request, key="k", caller="c", body=b"")
    idempotency.finish(slow, HttpResponse(b"late"), scopes=())
    assert IdempotencyRecord.objects.get().status is None


def test_after_a_day_a_key_is_new(runs):
    client = caller()
    post(client)
    age(timedelta(hours=24, seconds=1))
    assert "Idempotent-Replayed" not in post(client)
    assert len(runs) == 2


def test_the_record_says_whose_answer_it_is():
    client = caller()
    post(client, {"user": "u"})
    post(client, {}, headers={"Idempotency-Key": "k-2"})
    kept = set(IdempotencyRecord.objects.values_list("workspace_id", "subject"))
    assert kept == {(WORKSPACE, "u"), (WORKSPACE, None)}


def test_a_request_refused_before_it_ran_uses_no_key():
    client = caller()
    assert client.post("/api/v1/work", b"{", content_type="application/json", headers=KEY).status_code == 400
    assert post(client).status_code == 201


def test_a_store_that_fails_afterwards_costs_the_replay_and_not_the_answer(monkeypatch):
    client = caller()
    monkeypatch.setattr(idempotency, "_KEEP", "SELECT 1 / (0 * length(concat(%s, %s, %s, %s, %s, %s::text)))")
    assert post(client).status_code == 201


def test_the_sweep_removes_what_is_older_than_a_day_in_batches(monkeypatch):
    monkeypatch.setattr(idempotency, "_SWEEP_BATCH", 2)
    for number in range(5):
        IdempotencyRecord.objects.create(caller="c", key_hash=bytes([number]) * 32, fingerprint=b"f" * 32)
    age(timedelta(hours=25))
    IdempotencyRecord.objects.create(caller="c", key_hash=b"n" * 32, fingerprint=b"f" * 32)
    assert idempotency.sweep() == 5
    assert IdempotencyRecord.objects.count() == 1
    assert idempotency.sweep() == 0


@pytest.mark.django_db(transaction=True)
def test_ten_at_once_with_one_key_run_once(runs):
    secret, together = issue().secret, threading.Barrier(10)

    def send(_: int):
        client = bearer(secret)
        together.wait(timeout=30)
        try:
            return post(client, {"user": "u"})
        finally:
            connections.close_all()

    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(send, range(10)))
    assert len(runs) == 1
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert {answer.content for answer in answers if answer.status_code == 201} == {b'{"run":1}'}
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} <= {"idempotency_in_progress"}
    assert IdempotencyRecord.objects.count() == 1
    assert connection.in_atomic_block is False
