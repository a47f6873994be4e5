"""Remember many at once: each memory as if it were saved alone, and one call of the embedder for all of them.

Each has a transaction of its own and so holds one owner's lock at a time: a bad one fails alone, a later one is
compared with those before it, and owners in any order never wait for each other in a circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memories.domain.embedding_text import embedding_text
from memories.domain.save import SaveCommand, SaveResult
from memories.services import consent, vectors
from memories.services.remember import Write, admitted, keep
from memories.store.vectors import ModelVector
from omnia.core.actor import Actor
from omnia.core.errors import OmniaError
from policies.domain.effective import EffectivePolicy


@dataclass(frozen=True, slots=True)
class Save:
    """A memory to keep, and the policy of its workspace."""

    command: SaveCommand
    policy: EffectivePolicy


def remember_all(saves: Sequence[Save], *, now: datetime, actor: Actor) -> list[SaveResult | OmniaError]:
    """What became of each save, in their order: its result, or the error it would have raised alone."""
    writes = [_admitted(save, now=now, actor=actor) for save in saves]
    texts = [embedding_text(each.command.title, each.command.content) for each in writes if isinstance(each, Write)]
    found = iter(vectors.for_passages(texts))
    return [_kept(write, vector=next(found)) if isinstance(write, Write) else write for write in writes]


def _admitted(save: Save, *, now: datetime, actor: Actor) -> Write | OmniaError:
    """An admitted save, or why it is refused."""
    try:
        with consent.told(save.command.scope, actor=actor):
            return admitted(save.command, policy=save.policy, now=now, actor=actor)
    except OmniaError as refusal:
        return refusal


def _kept(write: Write, *, vector: ModelVector | None) -> SaveResult | OmniaError:
    try:
        with consent.told(write.command.scope, actor=write.actor):
            return keep(write, vector=vector)
    except consent.ConsentDenied as refusal:
        return refusal
