"""Relate: edges between the memories a scope sees, made, listed and removed (spec: schema.relations).

Both ends must lie within the scope, so an edge never joins two users. The owners of both ends are locked in
one order: neither end can be forgotten between the look and the write.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from memories.domain.relation import Relation
from memories.services.open import not_found
from memories.store import edges, memories
from memories.store.locks import owner_locks
from memories.store.scope_sql import Where, visible
from omnia.api.pagination import decode_cursor, encode_cursor
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.edition import Edition
from omnia.core.errors import NotFound, OmniaError
from omnia.core.scope import Scope
from policies.domain.effective import EffectivePolicy


@dataclass(frozen=True, slots=True)
class RelationWriter:
    """Who changes relations, in which scope; `shared_refusal` is raised for an edge of two shared memories."""

    scope: Scope
    actor: Actor
    shared_refusal: OmniaError | None


@dataclass(frozen=True, slots=True)
class RelationPage:
    """Relations in the wire form, how many there are in all, and where the next page begins."""

    relations: list[dict[str, Any]]
    total: int
    next: str | None

    def as_json(self) -> dict[str, Any]:
        return {"relations": self.relations, "total": self.total, "next": self.next}


def relate(relation: Relation, *, writer: RelationWriter, policy: EffectivePolicy, now: datetime) -> UUID:
    """The id of the edge; stated again, it keeps its id and takes the newer weight and metadata.

    Raises NotFound `memory_not_found` unless the scope sees both ends, BadInput for a relation the schema does
    not declare between their types.
    """
    with _held(relation, writer=writer, policy=policy, now=now, missing=not_found()) as ends:
        policy.vocabulary.check_relation(
            relation.relation_type, source_type=ends.source.type, target_type=ends.target.type
        )
        edge, made = edges.put(relation, workspace=writer.scope.workspace, now=now)
        write = record.relation_created if made else record.relation_changed
        write(scope=ends.owner, actor=writer.actor, memory=relation.source, metadata=_facts(edge, relation))
    return edge


def unrelate(edge: UUID, *, writer: RelationWriter, policy: EffectivePolicy, now: datetime) -> None:
    """Removes an edge. Raises NotFound `relation_not_found` unless the scope sees both its ends."""
    missing = NotFound("There is no such relation in this scope.", code="relation_not_found")
    relation = edges.find(edge, workspace=writer.scope.workspace)
    if relation is None:
        raise missing
    with _held(relation, writer=writer, policy=policy, now=now, missing=missing) as ends:
        if not edges.remove(edge):
            raise missing
        record.relation_deleted(
            scope=ends.owner, actor=writer.actor, memory=relation.source, metadata=_facts(edge, relation)
        )


def relations_of(
    memory: UUID, *, scope: Scope, limit: int, cursor: str | None, offset: int, policy: EffectivePolicy, now: datetime
) -> RelationPage:
    """The relations of a memory, both ways, to rows the scope sees, heaviest first.

    Raises NotFound `memory_not_found` unless the scope sees the memory, BadInput `invalid_cursor`.
    """
    after = _place(cursor) if cursor else None
    where = _seen(scope, policy=policy, now=now)
    if memories.read(memory, where=where) is None:
        raise not_found()
    rows = edges.at(memory, where=where, scope=scope, after=after, offset=offset, limit=limit + 1)
    shown, more = rows[:limit], len(rows) > limit
    for row in shown:
        row["direction"] = "outgoing" if row["source_id"] == memory else "incoming"
    total = edges.count_at(memory, where=where, scope=scope)
    return RelationPage(shown, total, _cursor(shown[-1]) if more else None)


@dataclass(frozen=True, slots=True)
class _Ends:
    """Both ends of an edge, which cannot go away before the transaction ends."""

    source: edges.End
    target: edges.End

    @property
    def owner(self) -> Scope:
        """The user and agent of either end: an edge has the scope of both together."""
        one, other = self.source.scope, self.target.scope
        return Scope(one.workspace, one.user or other.user, one.agent or other.agent)


@contextmanager
def _held(
    relation: Relation, *, writer: RelationWriter, policy: EffectivePolicy, now: datetime, missing: NotFound
) -> Iterator[_Ends]:
    """A transaction that holds both ends. Raises `missing` unless the scope sees them, or the writer's refusal."""
    where, ids = _seen(writer.scope, policy=policy, now=now), (relation.source, relation.target)
    owners = [end.scope for end in edges.ends(ids, where=where).values()]
    with transaction.atomic():
        owner_locks(owners)
        found = edges.ends(ids, where=where)
        if len(found) < len(ids):
            raise missing
        ends = _Ends(found[relation.source], found[relation.target])
        if writer.shared_refusal and ends.owner.tier.shared:
            raise writer.shared_refusal
        yield ends


def _seen(scope: Scope, *, policy: EffectivePolicy, now: datetime) -> Where:
    return visible(scope, institutional=policy.edition is Edition.ENTERPRISE, now=now)


def _facts(edge: UUID, relation: Relation) -> dict[str, str]:
    return {"relation": str(edge), "target": str(relation.target), "relation_type": relation.relation_type}


_PURPOSE = "relations"


def _cursor(row: dict[str, Any]) -> str:
    return encode_cursor([repr(row["weight"]), row["id"].hex], purpose=_PURPOSE)


def _place(cursor: str) -> edges.Place:
    weight, edge = decode_cursor(cursor, purpose=_PURPOSE)
    return edges.Place(float(weight), UUID(str(edge)))
