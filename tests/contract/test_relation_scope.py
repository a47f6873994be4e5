"""Whose rows a relation may join, who may relate them, and what becomes of it when they go (spec: schema.relations)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from memories.models import Edge
from omnia.api.principal import Role
from omnia.core.edition import Edition
from policies.services.resolve import clear_cache
from tests.callers import caller
from tests.contract.graphs import NOBODY, forged, kept, listed, opened_graph, relate, removed
from tests.support import Store, new_workspace, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> Iterator[Store]:
    with opened_graph() as opened:
        yield opened


OWNERS: dict[str, tuple[str | None, str | None]] = {
    "institution": (None, None), "agent": (None, "a1"), "agent 2": (None, "a2"), "user": ("u1", None),
    "for agent": ("u1", "a1"), "for agent 2": ("u1", "a2"), "other user": ("u2", None), "other for agent": ("u2", "a1"),
}  # fmt: skip
SEEN: list[tuple[str | None, str | None, set[str]]] = [
    # the caller's user and agent, whose rows an end may be
    ("u1", None, {"institution", "user"}),
    ("u1", "a1", {"institution", "agent", "user", "for agent"}),
    (None, "a1", {"institution", "agent"}),
    (None, None, {"institution"}),
]


@pytest.mark.parametrize(("user", "agent", "seen"), SEEN)
def test_both_ends_must_lie_in_the_callers_scope(
    store: Store, user: str | None, agent: str | None, seen: set[str]
) -> None:
    hub = kept(store, "hub", user=None)
    for name, (owner, by) in OWNERS.items():
        memory = kept(store, name, user=owner, agent=by)
        for source, target in ((hub, memory), (memory, hub)):
            answer = relate(store, source, target, user=user, agent=agent, status=201 if name in seen else 404)
            assert answer.get("code") == (None if name in seen else "memory_not_found")
    assert Edge.objects.count() == 2 * len(seen)


GONE = [
    "expires_at = now()",
    "retired_at = now(), retired_as = 'forgotten'",
    "retired_at = now(), retired_as = 'superseded'",
]


@pytest.mark.parametrize("gone", GONE)
def test_what_is_gone_is_related_to_nothing(store: Store, gone: str) -> None:
    one, other = kept(store, "one"), kept(store, "other")
    edge = relate(store, one, other)["id"]
    run(f"UPDATE memories_memory SET {gone} WHERE id = %s", other)
    assert listed(store, one) == {"relations": [], "total": 0, "next": None}
    assert listed(store, other, status=404)["code"] == "memory_not_found"
    removed(store, edge, status=404)
    relate(store, one, other, status=404)


def test_another_workspace_is_not_there(store: Store) -> None:
    one = kept(store, "one")
    with opened_graph() as other:
        theirs = kept(other, "theirs")
        edge = relate(other, theirs, kept(other, "more"))["id"]
        relate(store, one, theirs, status=404)
        relate(other, one, theirs, status=404)
        listed(store, theirs, status=404)
        removed(store, edge, status=404)
        assert Edge.objects.count() == 1


def test_a_relation_whose_end_is_out_of_sight_is_neither_listed_nor_counted_nor_removed(store: Store) -> None:
    shared = kept(store, "shared", user=None)
    mine = relate(store, kept(store, "mine"), shared)["id"]
    theirs = relate(store, kept(store, "theirs", user="u2"), shared, user="u2")["id"]
    for user, edge in (("u1", mine), ("u2", theirs)):
        answer = listed(store, shared, user_id=user)
        assert ([shown["id"] for shown in answer["relations"]], answer["total"]) == ([edge], 1)
    assert listed(store, shared, user_id=None)["total"] == 0
    assert removed(store, theirs, status=404)["code"] == "relation_not_found"
    removed(store, theirs, user_id=None, status=404)


@pytest.mark.parametrize("user", [None, "u1", "u2"])
def test_no_forged_edge_shows_another_users_row(store: Store, user: str | None) -> None:
    mine, theirs = kept(store, "mine"), kept(store, "theirs", user="u2")
    edge = forged(store, mine, theirs, user=user)
    assert listed(store, mine) == {"relations": [], "total": 0, "next": None}
    removed(store, edge, status=404)


def test_the_database_refuses_an_edge_across_users_and_workspaces(store: Store) -> None:
    mine, theirs = kept(store, "mine"), kept(store, "theirs", user="u2")
    with opened_graph() as other:
        elsewhere = kept(other, "elsewhere")
    for target in (theirs, elsewhere, NOBODY):
        for source, end in ((mine, target), (target, mine)):
            with pytest.raises(IntegrityError), transaction.atomic():
                Edge.objects.create(workspace_id=store.workspace, source_id=source, target_id=end, relation_type="x")


@pytest.mark.parametrize(("one", "other", "scope"), [("user", "institution", ("u1", None)), ("agent", "for agent", ("u1", "a1")),
                                                     ("user", "for agent", ("u1", "a1")), ("agent", "institution", (None, "a1"))])  # fmt: skip
def test_an_edge_has_the_scope_of_its_two_ends(store: Store, one: str, other: str, scope: tuple[Any, Any]) -> None:
    ends = [kept(store, name, user=OWNERS[name][0], agent=OWNERS[name][1]) for name in (one, other)]
    for source, target in (ends, reversed(ends)):
        relate(store, source, target, user="u1", agent="a1")
    assert set(Edge.objects.values_list("workspace", "user_id", "agent_id")) == {(store.workspace, *scope)}


RIGHTS: list[tuple[dict[str, Any], str, str | None, str | None]] = [
    # the caller, the second end, the user of the scope, the code of the refusal; the first end is shared
    ({"role": Role.OWNER}, "user", "u1", None),
    ({"role": Role.OWNER}, "agent", "u1", None),
    ({"role": Role.OWNER}, "agent", None, None),
    ({"role": Role.EDITOR}, "user", "u1", None),
    ({"role": Role.EDITOR}, "agent", "u1", "role_too_small"),
    ({"role": Role.EDITOR}, "agent", None, "role_too_small"),
    ({"role": Role.VIEWER}, "user", "u1", "role_too_small"),
    ({"role": Role.EDITOR, "subject": "u1"}, "user", None, None),
    ({"role": Role.OWNER, "subject": "u1"}, "agent", "u1", "bound_to_a_user"),
    ({"role": Role.OWNER, "subject": "u1"}, "agent", None, "bound_to_a_user"),
    ({"role": Role.OWNER, "subject": "u2"}, "user", "u1", "bound_to_a_user"),
]


@pytest.mark.parametrize(("wishes", "end", "user", "code"), RIGHTS)
def test_editors_relate_in_the_user_tiers_and_owners_in_the_shared(
    store: Store, wishes: dict[str, Any], end: str, user: str | None, code: str | None
) -> None:
    shared, other = kept(store, "shared", user=None), kept(store, "other", user=OWNERS[end][0], agent=OWNERS[end][1])
    acting = Store(
        store.workspace, caller(wishes["role"], **{name: wish for name, wish in wishes.items() if name != "role"})
    )
    answer = relate(acting, shared, other, user=user, agent="a1", status=403 if code else 201)
    assert answer.get("code") == code
    edge = Edge.objects.create(workspace_id=store.workspace, source_id=other, target_id=shared, relation_type="x")
    query = {"workspace": str(store.workspace), "user_id": user or "", "agent": "a1"}
    answer = acting.send("DELETE", f"relations/{edge.pk}", None, status=403 if code else 200, query=query)
    assert answer.get("code") == code
    assert Edge.objects.filter(pk=edge.pk).exists() is bool(code)


def test_without_a_role_the_workspace_is_not_there(store: Store) -> None:
    one, other = kept(store, "one"), kept(store, "other")
    stranger = Store(store.workspace, caller(Role.OWNER, workspaces=frozenset({new_workspace()})))
    assert relate(stranger, one, other, status=404)["code"] == "workspace_not_found"


def test_forgetting_hides_an_edge_at_once_and_deletion_removes_it(store: Store) -> None:
    hub, node, last = (kept(store, text) for text in ("hub", "node", "last"))
    relate(store, hub, node)
    relate(store, node, last)
    relate(store, hub, last, weight=0.5)
    store.forget(node)
    assert [shown["target_id"] for shown in listed(store, hub)["relations"]] == [last]
    assert listed(store, last)["total"] == 1
    assert Edge.objects.count() == 3
    run("DELETE FROM memories_memory WHERE id = %s", node)
    assert Edge.objects.count() == 1


@pytest.mark.parametrize("scope", [{"user_id": "u1"}, {"agent": "a1"}])
def test_forgetting_everything_takes_the_edges_of_the_owner_alone(store: Store, scope: dict[str, str]) -> None:
    agents, mine, more = kept(store, "agent", user=None, agent="a1"), kept(store, "mine"), kept(store, "more")
    theirs, shared = kept(store, "theirs", user="u2"), kept(store, "shared", user=None)
    relate(store, mine, agents, agent="a1")
    relate(store, theirs, shared, user="u2")
    if "user_id" in scope:
        relate(store, mine, more)
    query = {"workspace": str(store.workspace), **scope}
    store.send("DELETE", "memories", None, status=200, query=query)
    assert str(Edge.objects.get().source_id) == theirs


def test_in_the_core_edition_the_institution_is_no_end(store: Store, settings: Any) -> None:
    one, shared, agents = (
        kept(store, "one"),
        kept(store, "shared", user=None),
        kept(store, "agent", user=None, agent="a1"),
    )
    settings.OMNIA = replace(settings.OMNIA, edition=Edition.CORE)
    clear_cache()
    relate(store, one, shared, agent="a1", status=404)
    relate(store, one, agents, agent="a1")
