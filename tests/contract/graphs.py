"""A small graph to recall from: a policy that declares relations, and memories joined by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from omnia.core.ids import uuid7
from tests.support import Store, opened_store, run

ANY = {"sourceTypes": ["*"], "targetTypes": ["*"]}
SCHEMA: dict[str, Any] = {
    "version": "v1",
    "types": [{"name": "fact"}, {"name": "preference"}, {"name": "policy"}, {"name": "control"}],
    "relations": [
        {"name": "related_to", "kind": "association", "directed": False, **ANY},
        {"name": "causes", "kind": "logical", **ANY},
        {"name": "implements", "kind": "logical", "sourceTypes": ["control"], "targetTypes": ["policy"]},
    ],
}
NOBODY = "018f0000-0000-7000-8000-000000000000"
QUESTION = "bees"
"""Finds the seed of a chain alone: only its text holds the word."""
WALK: dict[str, Any] = {"enabled": True, "hops": 2, "maxAdded": 100, "weight": "0.5"}


@contextmanager
def opened_graph(*, walk: Mapping[str, Any] | None = None, recall: Mapping[str, Any] | None = None,
                 **wishes: Any) -> Iterator[Store]:  # fmt: skip
    """A store whose policy declares the relations, and expands as `walk` says; texts never merge, and no vectors."""
    rules = {"graphExpansion": dict(walk)} if walk is not None else {}
    policy = {"schema": SCHEMA, "recall": rules | dict(recall or {})}
    with opened_store(policy=policy, embeds=False, **wishes) as store:
        yield store


def relate(store: Store, source: object, target: object, relation_type: str = "related_to", *, user: str | None = "u1",
           agent: str | None = None, status: int = 201, **fields: Any) -> dict[str, Any]:  # fmt: skip
    scope = {"workspace_id": str(store.workspace), "virtual_user_id": user, "agent_id": agent}
    body = {
        "scope": scope,
        "source_id": str(source),
        "target_id": str(target),
        "relation_type": relation_type,
        **fields,
    }
    return store.send("POST", "relations", body, status=status)


def listed(store: Store, memory: object, *, status: int = 200, **query: Any) -> dict[str, Any]:
    return store.get("relations", status=status, memory_id=str(memory), **query)


def removed(store: Store, edge: object, *, status: int = 200, **query: Any) -> dict[str, Any]:
    given = {"workspace": str(store.workspace), "user_id": "u1"} | query
    named = {name: value for name, value in given.items() if value is not None}
    return store.send("DELETE", f"relations/{edge}", None, status=status, query=named)


def kept(store: Store, content: str, *, user: str | None = "u1", agent: str | None = None, **fields: Any) -> str:
    """The id of a new memory of any tier."""
    return str(store.keep(content, user=user, agent=agent, **fields).memory["id"])


def chain(store: Store, **weights: float) -> dict[str, str]:
    """seed – one – two – three, the directions in turn."""
    memories = {name: kept(store, text) for name, text in
                (("seed", "Keeps bees"), ("one", "one"), ("two", "two"), ("three", "three"))}  # fmt: skip
    relate(store, memories["seed"], memories["one"], "causes", weight=weights.get("one", 1.0))
    relate(store, memories["two"], memories["one"], "related_to", weight=weights.get("two", 1.0))
    relate(store, memories["two"], memories["three"], "causes", weight=weights.get("three", 1.0))
    return memories


def forged(store: Store, source: object, target: object, *, user: str | None = None, weight: float = 1.0) -> UUID:
    """An edge no route and no writer of ours could make: the database's own guards are off while it is written."""
    edge = uuid7()
    run("SET LOCAL session_replication_role = replica")
    run(
        "INSERT INTO memories_edge (id, workspace_id, source_id, target_id, user_id, relation_type, weight, metadata)"
        " VALUES (%s, %s, %s, %s, %s, 'related_to', %s, '{}')",
        edge, store.workspace, source, target, user, weight,
    )  # fmt: skip
    run("SET LOCAL session_replication_role = origin")
    return edge


def added(answer: Mapping[str, Any]) -> dict[str, float]:
    """The rows the graph added, by their text, with their scores."""
    return {memory["content"]: memory["score"] for memory in answer["memories"] if memory["source"] == "graph"}


def related(answer: Mapping[str, Any], content: str) -> list[dict[str, Any]]:
    [memory] = [memory for memory in answer["memories"] if memory["content"] == content]
    return list(memory["related"])
