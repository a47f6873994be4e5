"""What a retry under an Idempotency-Key is told: never what was taken away since, and no secret."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from omnia.api import idempotency
from omnia.api.models import IdempotencyRecord
from omnia.api.principal import Role
from omnia.core.scope import Scope
from tests.callers import caller
from tests.integration.dashboard.scene import browser_of
from tests.support import Store, opened_store

pytestmark = pytest.mark.django_db

KEY = {"Idempotency-Key": "k"}


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_store(role=Role.PLATFORM_ADMIN) as opened:
        yield opened


def recalled(store: Store) -> dict[str, object]:
    body = {"workspace_id": str(store.workspace), "user_id": "u1", "query": "bees"}
    return store.send("POST", "memories/retrieve", body, status=200, headers=KEY)


def test_a_recall_is_answered_anew(store: Store) -> None:
    memory = store.save("Keeps bees")["memory"]["id"]
    assert recalled(store)["total"] == 1
    store.forget(memory)
    assert recalled(store)["total"] == 0
    assert not IdempotencyRecord.objects.exists()


def test_a_forgotten_memory_is_told_no_more(store: Store) -> None:
    memory = store.save("Keeps bees", headers=KEY)["memory"]["id"]
    store.forget(memory)
    assert not any(b"bees" in bytes(row.body) for row in IdempotencyRecord.objects.all())


def test_an_answer_that_was_on_its_way_while_everything_was_forgotten_is_not_kept(store: Store) -> None:
    store.save("Keeps bees", headers=KEY)
    [row] = IdempotencyRecord.objects.all()
    run = idempotency.Run(row.id)
    idempotency.drop_answers(workspace=store.workspace, subject="u1")
    row.save(force_insert=True)  # as it stood while the request was running
    IdempotencyRecord.objects.filter(pk=row.pk).update(body=b"", status=None)
    answer = store.client.get("/healthz")
    idempotency.finish(run, answer, scopes=[Scope(store.workspace, "u1")])
    assert bytes(IdempotencyRecord.objects.get(pk=row.pk).body) == b""
    idempotency.finish(run, answer, scopes=[Scope(store.workspace, "u2")])
    assert bytes(IdempotencyRecord.objects.get(pk=row.pk).body) == answer.content


def test_a_tokens_secret_is_kept_nowhere(store: Store) -> None:
    body = {"name": "ci", "role": "editor", "workspaces": [str(store.workspace)]}
    made = store.send("POST", "tokens", body, status=201, headers=KEY)
    assert store.send("POST", "tokens", body, status=409, headers=KEY)["code"] == "already_done"
    assert not any(made["token"].encode() in bytes(row.body) for row in IdempotencyRecord.objects.all())


def test_a_person_whose_role_may_be_gone_is_told_no_more(store: Store) -> None:
    admin = browser_of("root")
    session = replace(store, client=admin)
    from django.contrib.auth.models import User

    User.objects.filter(username="root").update(is_superuser=True)
    session.save("Keeps bees", headers=KEY)
    assert session.save("Keeps bees", headers=KEY, status=409)["code"] == "already_done"
    assert len(store.rows("id")) == 1


def test_a_deleted_workspaces_answers_go_with_it(store: Store) -> None:
    store.save("Keeps bees", headers=KEY)
    name = store.send("GET", "workspaces", None, status=200)["items"][0]["metadata"]["name"]
    store.send("DELETE", f"workspaces/{name}", None, status=200, query={"confirm": name}, headers={"If-Match": "*"})
    assert not any(b"bees" in bytes(row.body) for row in IdempotencyRecord.objects.all())


def test_what_was_said_beside_a_sensitive_text_goes_with_it(store: Store) -> None:
    """Under another category the metadata of before would outlive the revocation of that one."""
    key = {"kind": "user", "key": "k"}
    store.save("Takes insulin", about=key, category="memory:health", metadata={"diagnosis": "d"})
    memory = store.save("Likes tea", about=key, category="memory:preferences", metadata={"a": "1"})["memory"]
    assert memory["metadata"] == {"a": "1"}


def test_a_bound_owner_is_not_told_who_else_is_a_member(store: Store) -> None:
    bound = replace(store, client=caller(Role.OWNER, subject="u1", workspaces=frozenset({store.workspace})))
    [workspace] = bound.send("GET", "workspaces", None, status=200)["items"]
    assert not {"directGrants", "roleBindings"} & workspace["spec"].keys()


@pytest.mark.parametrize("place", ["", "metadata", "scope"])
def test_a_thousand_and_one_keys_are_one_problem(store: Store, place: str) -> None:
    many = {f"k{number}": "1" for number in range(1001)}
    refused = store.send("POST", "memories/retrieve", {place: many} if place else many, status=400)
    assert refused["code"] == "too_many_keys"


def test_a_manifest_beyond_its_length_is_not_looked_into(store: Store) -> None:
    answer = store.client.post(
        "/api/v1/policies/validate", "a: [" + "x, " * 400_000 + "]", content_type="application/yaml"
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_manifest")
