"""Ingest: a source document becomes memories, or replaces what it was before (spec: ingestion).

One transaction a document, under the institution's lock. What the document no longer says is gone for
good; what it still says keeps its memory, vector and all. Nothing is embedded here: the words are found at
once, the vectors follow in the background.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from memories.domain.document import (
    CHUNK,
    DOCUMENT,
    SECTION,
    Node,
    Placed,
    SourceDocument,
    document_nodes,
    links,
    require_document,
)
from memories.services import vectors
from memories.store import document_nodes as store
from memories.store import documents, removal
from memories.store.locks import owner_lock
from omnia import metrics
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.ids import uuid7
from omnia.core.scope import Scope, Tier
from policies.domain.effective import EffectivePolicy

_MOST_NODES, _MOST_CHARACTERS = 500, 1_000_000
"""What is held of a document before it is written: its nodes and their characters, whichever comes first."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """A document as it now stands: what it is known by, and how many items it is found by."""

    document_id: str
    items: int
    outcome: str

    def as_json(self) -> dict[str, Any]:
        return {"document_id": self.document_id, "items": self.items}


def ingest_document(
    source: SourceDocument, *, workspace: UUID, policy: EffectivePolicy, now: datetime, actor: Actor
) -> Ingested:
    """Takes in one document. Raises BadInput naming the rule it breaks; nothing is stored then."""
    policy.vocabulary.check_institutional_type(DOCUMENT)
    require_document(source, rules=policy.ingestion)
    return _take_in(source, workspace=workspace, policy=policy, now=now, actor=actor)


def ingest_documents(
    sources: Sequence[SourceDocument], *, workspace: UUID, policy: EffectivePolicy, now: datetime, actor: Actor
) -> list[Ingested]:
    """Takes in the documents of a batch, each in its own transaction.

    Raises BadInput when any of them breaks a rule; nothing is stored then.
    """
    policy.vocabulary.check_institutional_type(DOCUMENT)
    for number, source in enumerate(sources):
        require_document(source, rules=policy.ingestion, pointer=f"/documents/{number}")
    return [_take_in(source, workspace=workspace, policy=policy, now=now, actor=actor) for source in sources]


def _take_in(
    source: SourceDocument, *, workspace: UUID, policy: EffectivePolicy, now: datetime, actor: Actor
) -> Ingested:
    scope = Scope(workspace)
    with transaction.atomic():
        owner_lock(scope)
        document, new = documents.ensure(source, workspace=workspace, now=now)
        filing = store.Filing(
            workspace=workspace,
            document=document.pk,
            metadata=source.metadata,
            expires_at=policy.expiry.resolve(tier=Tier.INSTITUTIONAL, category=None, explicit=None, now=now),
            embed_after=now if vectors.follow_later() else None,
            now=now,
        )
        replaced = _Replacement(filing)
        replaced.run(source, policy=policy)
        root, sections, items = replaced.root, replaced.count(SECTION), replaced.count(CHUNK)
        documents.note_counts(document.pk, sections=sections, items=items)
        event = record.memory_created if new else record.memory_updated
        event(scope=scope, actor=actor, memory=root, reason="ingested", metadata=replaced.facts())
    outcome = "created" if new else "replaced" if replaced.changed else "unchanged"
    metrics.INGESTED.labels(strategy=policy.ingestion.strategy, outcome=outcome).inc()
    return Ingested(source.key, items, outcome)


class _Replacement:
    """One document in its transaction: the memories it had give way to those it has now."""

    def __init__(self, filing: store.Filing) -> None:
        self._filing = filing
        self._held = store.Held(filing.document, now=filing.now)
        self._placed: list[Placed] = []
        self._added = self._removed = self._restated = 0

    def run(self, source: SourceDocument, *, policy: EffectivePolicy) -> None:
        for batch in _batches(document_nodes(source, rules=policy.ingestion)):
            self._place(batch)
        self._removed = removal.delete(self._held.left()).total()
        store.refile(self._filing)
        store.join(links(self._placed), filing=self._filing)

    def _place(self, nodes: Sequence[Node]) -> None:
        """Gives each node the memory that says the same, or a new one. A chunk that stays says all it said before."""
        new, kept = list[tuple[UUID, Node]](), list[tuple[UUID, Node]]()
        for node in nodes:
            memory = self._held.take(node)
            if memory is None:
                new.append((uuid7(), node))
            elif node.type != CHUNK:
                kept.append((memory, node))
            self._placed.append(Placed(memory or new[-1][0], node.type, node.part_of))
        self._added += len(new)
        store.insert(new, filing=self._filing)
        self._restated += store.restate(kept, filing=self._filing)

    @property
    def root(self) -> UUID:
        return self._placed[0].id

    @property
    def changed(self) -> bool:
        return bool(self._added or self._removed or self._restated)

    def count(self, kind: str) -> int:
        return sum(each.type == kind for each in self._placed)

    def facts(self) -> dict[str, Any]:
        """What the audit trail learns: numbers, never a text."""
        return {
            "document": str(self._filing.document),
            "added": self._added,
            "removed": self._removed,
            "restated": self._restated,
        }


def _batches(nodes: Iterable[Node]) -> Iterator[list[Node]]:
    batch, characters = list[Node](), 0
    for node in nodes:
        batch.append(node)
        characters += len(node.content)
        if len(batch) >= _MOST_NODES or characters >= _MOST_CHARACTERS:
            yield batch
            batch, characters = [], 0
    yield batch
