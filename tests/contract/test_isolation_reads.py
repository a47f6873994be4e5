"""Reads across users and tenants: nothing of another's, not even a count (spec: Memory tiers)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import StreamingHttpResponse

from memories.embeddings.current import use
from tests.contract.neighbours import MINE, NEAR, SENTINEL, THEIRS, surfaces, surround
from tests.naming import named
from tests.support import Store, Table, contents, ids, opened_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    """A store in which u1 has one memory and everybody else a near-identical one."""
    with opened_store(policy=NEAR) as opened:
        surround(opened)
        opened.save(MINE)
        yield opened


def test_security_185_another_workspaces_exact_text_finds_nothing(store: Store) -> None:
    with opened_store() as other:
        for agent in (None, "a1"):
            for query in (MINE, THEIRS):
                assert other.recall(query, agent=agent, limit=100)["memories"] == []


def test_security_193_no_answer_is_shared_between_users(store: Store) -> None:
    store.save("Sails a boat", user="a|b", agent="c")
    assert contents(store.recall("boat", user="a|b", agent="c", limit=1)) == ["Sails a boat"]
    for user, agent in (("a", "b|c"), ("u1", None), (None, "c"), ("a|b", None)):
        assert "Sails a boat" not in contents(store.recall("boat", user=user, agent=agent))


def test_security_194_no_row_is_served_after_it_is_gone(store: Store) -> None:
    assert contents(store.recall("bees", limit=1)) == [MINE]
    store.send("DELETE", "memories", None, status=200, query={"workspace": store.workspace, "user_id": "u1"})
    for answer in surfaces(store).values():
        assert answer["memories"] == []


def test_security_195_an_empty_id_never_means_all_users(store: Store) -> None:
    path, place = "/api/v1/memories", f"workspace={store.workspace}"
    before = len(store.rows("id"))
    for query in ("", "&user_id=", "&user_id=&agent=", "&user_id=%20", "&virtual_user_id=", "&agent=*"):
        assert store.client.delete(f"{path}?{place}{query}").status_code == 400
        listed = store.client.get(f"{path}?{place}{query}")
        assert SENTINEL not in listed.content.decode()
        deleted = store.client.delete(f"{path}/{ids(store.browse())[0]}?{place}{query}")
        assert deleted.status_code in (400, 404)
    for user in ("", None):
        assert store.recall("bees", user=user)["memories"] == []
    assert len(store.rows("id")) == before


def test_security_197_a_filter_that_forgetting_does_not_know_is_refused(store: Store) -> None:
    store.save("In the project", container="c")
    before = len(store.rows("id"))
    for extra in ({"container": "c"}, {"type": "fact"}, {"limit": "1"}, {"session_id": "s"}):
        query = {"workspace": store.workspace, "user_id": "u1", **extra}
        assert store.send("DELETE", "memories", None, status=400, query=query)["code"] == "unknown_parameter"
        body = {"scope": {"workspace_id": str(store.workspace), "user_id": "u1"}, **extra}
        assert store.send("DELETE", "memories", body, status=400)["code"] == "unknown_parameter"
    assert len(store.rows("id")) == before


def test_security_198_an_export_holds_the_users_own_rows_only(store: Store) -> None:
    export = store.client.get(f"/api/v1/memories/export?workspace={store.workspace}&user_id=u1")
    assert isinstance(export, StreamingHttpResponse)
    document = json.loads(b"".join(export))
    owners = {memory["scope"]["virtual_user_id"] for memory in document["memories"]}
    texts = sorted(memory["content"] for memory in document["memories"])
    assert (owners, texts) == ({"u1"}, [MINE, THEIRS])  # THEIRS: the user's own, for another agent


def test_security_199_an_institutional_memory_stays_in_its_workspace(store: Store) -> None:
    store.keep("Closed on Sundays")
    assert "Closed on Sundays" in contents(store.recall("Sundays"))
    with opened_store() as other:
        assert other.recall("Sundays")["memories"] == []
        assert other.browse(include_shared="true")["memories"] == []


@pytest.mark.parametrize(
    "query", ["' OR 1=1--", ":*", "!!!", "\\", "(" * 10_000, "bees' OR '1'='1", "bees') OR TRUE --"]
)
def test_security_201_operators_in_a_query_are_text(store: Store, query: str) -> None:
    for answer in (store.recall(query, limit=100), store.search(query), store.browse(type=query[:200])):
        assert set(contents(answer)) <= {MINE}


FOREIGN: list[dict[str, Any]] = [{"order_by": "user__password"}, {"ordering": "-embedding"}, {"fields": "embedding"}, {"user__password": "x"},
           {"workspace__name": "x"}, {"id__in": "x"}, {"expand": "entity"}]  # fmt: skip


@pytest.mark.parametrize("parameter", FOREIGN, ids=named)
def test_security_202_columns_cannot_be_named(store: Store, parameter: dict[str, Any]) -> None:
    assert store.get("memories", status=400, **parameter)["code"] == "unknown_parameter"
    assert store.get("memories/search", status=400, q="bees", **parameter)["code"] == "unknown_parameter"
    store.recall("bees", status=400, **parameter)


def test_security_203_the_vector_is_never_served(store: Store) -> None:
    memory = ids(store.browse())[0]
    everything = [*surfaces(store).values(), store.open(memory), store.history(memory), store.save("Sails a boat")]
    with use(Table()):
        everything.append(store.patch(memory, {"content": "Sold the bees"}))
    assert not re.search(r'"(embedding|vector|tsv|embedding_model\w*)"', json.dumps(everything))
