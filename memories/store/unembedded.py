"""The rows that wait for a vector. `embed_after` is the queue: when it has come, the row is due.

A worker that takes rows pushes their `embed_after` forward as a lease, and so holds no lock while the
model works. One that dies gives them back by doing nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from memories.domain.embedding_text import embedding_text
from memories.models import Memory
from memories.store.vectors import ModelVector


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A row as it was when it was claimed. `attempts` counts the failures laid to its own text."""

    id: UUID
    title: str | None
    content: str
    attempts: int
    lease: datetime

    @property
    def text(self) -> str:
        return embedding_text(self.title, self.content)


def claim(*, limit: int, now: datetime, lease: datetime) -> list[Unembedded]:
    """Takes up to `limit` live rows that are due, longest due first, until `lease`. Skips what others hold."""
    with transaction.atomic():
        due = _due(now).select_for_update(skip_locked=True, of=("self",)).order_by("embed_after")[:limit]
        rows = list(due.values_list("id", "title", "content", "embed_attempts"))
        Memory.objects.filter(pk__in=[row[0] for row in rows]).update(embed_after=lease)
    return [Unembedded(*row, lease) for row in rows]


def settle(row: Unembedded, vector: ModelVector) -> bool:
    """Stores the vector if the row still says what the vector stands for; whether it did."""
    unchanged = Memory.objects.filter(pk=row.id, title=row.title, content=row.content, embedding=None)
    written = unchanged.update(
        embedding=vector.vector, embedding_model_id=vector.model, embed_after=None, embed_attempts=0
    )
    return written == 1


def postpone(rows: Sequence[Unembedded], *, until: datetime | None, blamed: bool = False) -> None:
    """Makes claimed rows due again at `until`, or never; `blamed` counts it against the row's text.

    One statement a row, so that no lock is held while another is waited for.
    """
    for row in rows:
        held = Memory.objects.filter(pk=row.id, embed_after=row.lease)
        held.update(embed_after=until, embed_attempts=row.attempts + blamed)


def _due(now: datetime) -> QuerySet[Memory]:
    unexpired = Q(expires_at=None) | Q(expires_at__gt=now)
    unretired = Q(retired_at=None) | Q(retired_as="invalidated", retired_at__gt=now)
    return Memory.objects.filter(unexpired, unretired, embedding=None, embed_after__lte=now)
