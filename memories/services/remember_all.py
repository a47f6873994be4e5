"""Remember many at once: each memory as if it were saved alone, and one call of the embedder for all of them.

Each has a transaction of its own and so holds one owner's lock at a time: a bad one fails alone, a later one is
compared with those before it, and owners in any order never wait for each other in a circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memories.domain.admission import admit
from memories.domain.embedding_text import embedding_text
from memories.domain.save import SaveCommand, SaveResult
from memories.services import vectors
from memories.services.remember import keep
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
    admitted = [_admitted(save, now=now) for save in saves]
    passing = [(save, at) for save, at in zip(saves, admitted, strict=True) if not isinstance(at, OmniaError)]
    found = iter(
        vectors.for_passages([embedding_text(save.command.title, save.command.content) for save, _ in passing])
    )
    return [
        expires_at
        if isinstance(expires_at, OmniaError)
        else keep(save.command, policy=save.policy, expires_at=expires_at, vector=next(found), now=now, actor=actor)
        for save, expires_at in zip(saves, admitted, strict=True)
    ]


def _admitted(save: Save, *, now: datetime) -> datetime | OmniaError | None:
    """The expiry of an admitted save, or why it is refused."""
    try:
        return admit(save.command, policy=save.policy, now=now)
    except OmniaError as refusal:
        return refusal
