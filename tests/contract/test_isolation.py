"""Nobody learns of another's memories: each case on every read surface there is (spec: Memory tiers).

A test is named after its case, a fault seen in other memory stores; `cases_left_out` holds the cases that have
nothing to be shown on yet.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memories.services import (
    browse,
    conflicts,
    edit,
    exporting,
    forget,
    history,
    importing,
    open,
    recall,
    remember,
    supersede,
)
from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from policies.models import Workspace
from tests.callers import caller
from tests.contract.neighbours import MINE, NEAR, SENTINEL, THEIRS, surfaces, surround
from tests.support import Store, Table, contents, ids, opened_store, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    """A store in which u1 has one memory and everybody else a near-identical one."""
    with opened_store(policy=NEAR) as opened:
        surround(opened)
        opened.save(MINE)
        yield opened


MODES: dict[str, dict[str, Any]] = {
    "hybrid": {},
    "text": {"embeds": False},
    "embedder down": {"embedder": Table(fails=True)},
}


@pytest.mark.parametrize("mode", MODES)
def test_field_25_no_search_mode_shows_another_owner(mode: str) -> None:
    with opened_store(policy=NEAR, **MODES[mode]) as store:
        surround(store)
        store.save(MINE)
        for name, answer in surfaces(store).items():
            assert SENTINEL not in json.dumps(answer), name
            assert all(content == MINE for content in contents(answer)), name
            assert answer["total"] == len(contents(answer)) <= 1, name


def test_field_21_no_read_surface_shows_another_owner(store: Store) -> None:
    foreign = surround(store)
    for memory in foreign:
        for scope in ({}, {"agent": "a1"}, {"agent": "*"}, {"user_id": None}, {"user_id": None, "agent": "a1"}):
            if (scope, memory) == ({"agent": "*"}, foreign[6]):
                continue  # the user's own, for another agent
            assert store.open(memory, status=404, **scope)["code"] == "memory_not_found"
            assert store.history(memory, status=404, **scope)["code"] == "memory_not_found"
        store.patch(memory, {"content": "Stolen"}, status=404)
        store.forget(memory, status=404)
    assert SENTINEL not in json.dumps([*surfaces(store).values()])


def test_field_21_the_dashboard_shows_the_chosen_scope_only(store: Store) -> None:
    browser = Client()
    browser.force_login(User.objects.create(username="ann", is_superuser=True, is_active=True))
    session = browser.session
    session["workspace"] = str(store.workspace)
    session.save()
    chosen = browser.post("/memories/scope/", {"tier": "user", "user": "u1", "agents": "none"}, follow=True)
    assert chosen.status_code == 200
    assert MINE in chosen.content.decode()
    pages = [chosen, *(browser.get("/memories/", {"q": query}) for query in ("", "bees", "garden"))]
    pages += [browser.get(f"/memories/{memory}/") for memory in surround(store)]
    for page in pages:
        assert SENTINEL not in page.content.decode()
    assert {page.status_code for page in pages[4:]} == {404}


def test_field_21_audit_metrics_and_log_lines_name_nobody(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    user = "user-zanzibar-4711"
    with caplog.at_level(logging.INFO):
        memory = store.save(f"{SENTINEL} {MINE}", user=user, title=SENTINEL, metadata={"k": SENTINEL})["memory"]["id"]
        store.recall(SENTINEL, user=user)
        store.search(SENTINEL, user_id=user)
        store.open(memory, user_id=user)
        store.patch(memory, {"content": f"{SENTINEL} again"}, user_id=user)
        store.save(f"{SENTINEL}", user=user, type="nope", status=400)
        store.forget(memory, user_id=user)
    metrics = caller(Role.PLATFORM_ADMIN).get("/metrics").content.decode()
    assert "omnia_memory_saves_total" in metrics
    rows = AuditRow.objects.filter(workspace_id=store.workspace)
    assert {row.event for row in rows} >= {"memory_created", "memory_accessed", "memory_updated", "memory_deleted"}
    for text in (metrics, caplog.text, str([row.__dict__ for row in rows])):
        assert text
        assert SENTINEL not in text
        assert user not in text


def test_field_1_forget_everything_leaves_every_other_row(store: Store) -> None:
    for user, agent in (("u1", "a1"), (None, None), (None, "a1")):
        for number in range(3):
            store.keep(f"Fact {number}", user=user, agent=agent)
    before = {row["id"] for row in store.rows("id, user_id") if row["user_id"] != "u1"}
    gone = store.send("DELETE", "memories", None, status=200, query={"workspace": store.workspace, "user_id": "u1"})
    after = store.rows("id, user_id")
    assert {row["id"] for row in after} == before
    assert gone["deleted"] > 3


def test_field_2_identity_in_metadata_changes_no_owner(store: Store) -> None:
    memory = store.save("Owns a boat", metadata={"user_id": "u2", "workspace_id": "x"})["memory"]
    assert memory["scope"]["virtual_user_id"] == "u1"
    assert "Owns a boat" not in contents(store.recall("boat", user="u2"))


def test_field_3_an_edit_moves_no_owner(store: Store) -> None:
    memory = ids(store.browse())[0]
    store.patch(memory, {"metadata": {"user_id": "u2"}, "scope": {"workspace_id": str(store.workspace)}})
    store.patch(memory, {"user_id": "u2"}, status=400)
    row = next(row for row in store.rows("id, user_id") if str(row["id"]) == memory)
    assert row["user_id"] == "u1"
    hashes = {row.subject_hash for row in AuditRow.objects.filter(memory_id=memory)}
    assert len(hashes) == 1


def test_field_5_an_empty_id_means_not_given_and_white_space_is_refused(store: Store) -> None:
    """The wire contract settles the empty string: not given, which is IS NULL and never any."""
    assert store.browse(user_id="")["total"] == store.search("bees", user_id="")["total"] == 0
    assert store.recall("bees", user="")["memories"] == []
    for blank in (" ", "\t", "\u3000"):
        store.browse(status=400, user_id=blank)
        store.search("bees", status=400, user_id=blank)
        store.recall("bees", user=blank, status=400)
        store.recall("bees", agent=blank, status=400)


def test_field_6_no_filter_widens_past_the_owner(store: Store) -> None:
    store.keep(f"{THEIRS} too", user="u2", type="preference", purpose="p")
    for types in (["fact", "preference"], ["preference"], ["fact') OR TRUE --"]):
        for answer in (
            store.recall("bees", types=types, purposes=["p", "q"]),
            store.recall("bees", types=types),
            store.browse(type=types),
            store.browse(type=types, include_shared="true", agent="a1"),
            store.search("bees", type=types, include_shared="true"),
        ):
            assert SENTINEL not in json.dumps(answer)


def test_field_9_there_is_no_default_scope(store: Store) -> None:
    assert store.send("POST", "memories/retrieve", {"query": "bees"}, status=400)["code"] == "workspace_required"
    assert store.get("memories", status=400, workspace=None)["code"] == "workspace_required"
    assert store.recall("bees", user=None)["memories"] == []


def test_field_11_each_is_told_their_own_answer(store: Store) -> None:
    store.save("Lives in Lyon")
    store.save("Lives in Rome", user="u2")
    [mine] = store.recall("where do I live", limit=1)["memories"]
    [theirs] = store.recall("where do I live", user="u2", limit=1)["memories"]
    assert (mine["content"], theirs["content"]) == ("Lives in Lyon", "Lives in Rome")
    assert mine["related"] == theirs["related"] == []


def test_field_13_the_user_tier_needs_a_user(store: Store) -> None:
    store.save("Nobody's", user=None, agent="default", status=400)
    store.save("Nobody's", user="", agent="default", status=400)
    store.keep("An agent's", agent="default")
    with opened_store() as other:
        assert other.recall("agent", user=None, agent="default")["memories"] == []


def test_field_14_filters_carry_the_names_of_the_write(store: Store) -> None:
    store.save("Sails a boat", purpose="leisure", category="memory:history", type="preference")
    for answer in (store.browse(purpose="leisure"), store.browse(category="memory:history"), store.browse(type="preference"),
                   store.recall("", purposes=["leisure"]), store.recall("", types=["preference"])):  # fmt: skip
        assert contents(answer) == ["Sails a boat"]
    assert store.recall("boat", status=400, purpose="leisure")["errors"][0]["code"] == "unknown_field"


def test_field_15_an_empty_scope_answers_nothing_and_no_neighbours(store: Store) -> None:
    for answer in (store.recall(THEIRS, user="u9"), store.browse(user_id="u9"), store.search(THEIRS, user_id="u9")):
        assert (answer["memories"], answer["total"]) == ([], 0)
    assert store.recall("bees", status=400, container="empty")["errors"][0]["pointer"] == "/container"


def test_field_17_a_reader_finds_a_workspace_by_name_and_uid_and_a_stranger_by_neither(store: Store) -> None:
    name = Workspace.objects.get(uid=store.workspace).name
    reader = Store(store.workspace, caller(Role.VIEWER, workspaces=frozenset({store.workspace})))
    assert reader.browse(workspace=name) == reader.browse()
    with opened_store() as elsewhere:
        stranger = Store(store.workspace, caller(Role.OWNER, workspaces=frozenset({elsewhere.workspace})))
    answers = [
        stranger.browse(status=404, workspace=reference) for reference in (name, str(store.workspace), "nowhere")
    ]
    assert len({json.dumps(answer | {"request_id": ""}) for answer in answers}) == 1


def test_field_18_an_id_outside_the_scope_deletes_nothing(store: Store) -> None:
    foreign = surround(store)
    before = len(store.rows("id"))
    for memory in (*foreign, UUID(int=7)):
        store.forget(memory, status=404)
    mine = ids(store.browse())[0]
    store.forget(mine)
    run("DELETE FROM memories_memory WHERE id = %s", mine)
    store.forget(mine, status=404)
    assert len(store.rows("id")) == before - 1


def test_field_19_identical_ids_in_two_workspaces_do_not_bleed(store: Store) -> None:
    same: dict[str, Any] = {"session_id": "s", "container": "c", "about": {"kind": "k", "key": "x"}, "agent": "a1"}
    store.save("First house", **same)
    with opened_store() as other:
        assert other.save("Second house", **same)["action"] == "added"
        assert contents(other.browse(agent="a1")) == ["Second house"]
    assert contents(store.browse(agent="a1")) == ["First house"]


def test_field_22_a_save_learns_of_no_other_owner(store: Store) -> None:
    saved = store.save(THEIRS)
    assert saved["action"] == "added"
    assert [each["content"] for each in saved["potential_duplicates"]] == [MINE]
    assert len(store.rows("id")) == len(store.rows("DISTINCT id"))


SERVICES = [browse, conflicts, edit, exporting, forget, history, importing, open, recall, remember, supersede]


@pytest.mark.parametrize("service", SERVICES)
def test_field_23_no_service_has_a_default_scope(service: Any) -> None:
    functions = [
        each for _, each in inspect.getmembers(service, inspect.isfunction) if each.__module__ == service.__name__
    ]
    for function in functions:
        for name, parameter in inspect.signature(function).parameters.items():
            if name in ("scope", "reach", "command", "request", "user", "agent", "workspace"):
                assert parameter.default is inspect.Parameter.empty, f"{function.__name__}({name})"


def test_field_26_the_given_ids_come_back(store: Store) -> None:
    scope = store.save("Sails a boat", user="Üser 1", agent="ä/1")["memory"]["scope"]
    assert scope == {"workspace_id": str(store.workspace), "virtual_user_id": "Üser 1", "agent_id": "ä/1"}
    assert store.browse(user_id="Üser 1", agent="ä/1")["memories"][0]["scope"] == scope


def test_field_27_a_scope_told_twice_must_agree(store: Store) -> None:
    body = {"workspace_id": str(store.workspace), "user_id": "u1", "query": "bees"}
    same = store.send("POST", "memories/retrieve", body, status=200, query={"user_id": "u1"})
    assert contents(same) == [MINE]
    for query in ({"user_id": "u2"}, {"workspace": "other"}):
        refused = store.send("POST", "memories/retrieve", body, status=400, query=query)
        assert refused["code"] == "scope_mismatch"
    bound = Store(store.workspace, caller(Role.OWNER, subject="u2"))
    bound.recall("bees", user="u1", status=403)
