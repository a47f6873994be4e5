"""The rows that lack a vector. `embed_after` is the queue: when it has come, the row is due.

A worker that takes rows pushes their `embed_after` forward as a lease, and so holds no lock while the
model works. One that dies gives them back by doing nothing. A change of the model leaves the queue alone and walks
through all rows instead, in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from memories.domain.embedding_text import embedding_text
from memories.models import Memory
from memories.store.vectors import ModelVector, Slot
from omnia.db import execute

ATTEMPTS = 5
"""A text refused as often is given up: it is left to the text search until somebody has it tried again."""
Wanted = Mapping[Slot, int]
"""The models a row should have a vector of, by where it stands."""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A row as it was when it was taken. `attempts` counts the failures laid to its own text.

    `lease` is None for a row that was met on a walk; `models` are those it has a vector of, by slot.
    """

    id: UUID
    title: str | None
    content: str
    attempts: int
    models: tuple[int | None, int | None]
    lease: datetime | None

    @property
    def text(self) -> str:
        return embedding_text(self.title, self.content)

    def lacks(self, slot: Slot, model: int) -> bool:
        return self.models[slot] != model


def claim(wanted: Wanted, *, limit: int, now: datetime, lease: datetime) -> list[Unembedded]:
    """Takes up to `limit` live rows that are due, longest due first, until `lease`. Skips what others hold."""
    with transaction.atomic():
        due = _due(now).filter(_lacking(wanted))
        rows = _read(due.select_for_update(skip_locked=True, of=("self",)).order_by("embed_after")[:limit], lease=lease)
        Memory.objects.filter(pk__in=[row.id for row in rows]).update(embed_after=lease)
    return rows


def walk(wanted: Wanted, *, after: UUID | None, limit: int, now: datetime) -> list[Unembedded]:
    """Up to `limit` rows behind `after`, live or not, in the order of their ids; not those given up."""
    rows = _walked(wanted, now=now).order_by("id")
    return _read((rows.filter(id__gt=after) if after else rows)[:limit], lease=None)


def any_lacking(wanted: Wanted, *, now: datetime) -> bool:
    """Whether a row is left that a walk would meet."""
    return _walked(wanted, now=now).exists()


def settle(row: Unembedded, vectors: Sequence[ModelVector], *, done: bool) -> bool:
    """Stores the vectors if the row still says what they stand for; whether it did. `done`: it lacks no other."""
    unchanged = Memory.objects.filter(pk=row.id, title=row.title, content=row.content)
    lacking = unchanged.filter(_lacking({each.slot: each.model for each in vectors}))
    columns: dict[str, Any] = {each.slot.column: each.vector for each in vectors}
    columns |= {each.slot.model_column: each.model for each in vectors}
    if done:
        columns |= {"embed_after": None, "embed_attempts": 0}
    return lacking.update(**columns) == 1


def postpone(rows: Sequence[Unembedded], *, until: datetime | None, blamed: bool = False) -> None:
    """Makes claimed rows due again at `until`, or never; `blamed` counts it against the row's text.

    A row met on a walk is met again on the next. One statement a row, so that no lock is held while another is waited for.
    """
    for row in rows:
        held = Memory.objects.filter(pk=row.id, embed_attempts=row.attempts)
        if row.lease is None:
            held.filter(title=row.title, content=row.content).update(embed_attempts=row.attempts + blamed)
        else:
            held.filter(embed_after=row.lease).update(embed_after=until, embed_attempts=row.attempts + blamed)


def try_again() -> int:
    """Gives every text that was given up its attempts back; how many."""
    sql = "UPDATE memories_memory SET embed_attempts = 0 WHERE embed_attempts >= %(attempts)s"
    return execute(sql, {"attempts": ATTEMPTS})


def queue_lacking(wanted: Wanted, *, now: datetime, limit: int) -> int:
    """Makes up to `limit` live rows due that lack a vector and wait for none, but those given up; how many."""
    idle = Memory.objects.filter(_lives(now), _lacking(wanted), embed_after=None, embed_attempts__lt=ATTEMPTS).order_by(
        "id"
    )
    with transaction.atomic():
        ids = list(idle.select_for_update(skip_locked=True, of=("self",)).values_list("id", flat=True)[:limit])
        return Memory.objects.filter(pk__in=ids).update(embed_after=now, embed_attempts=0)


def _due(now: datetime) -> QuerySet[Memory]:
    return Memory.objects.filter(_lives(now), embed_after__lte=now)


def _walked(wanted: Wanted, *, now: datetime) -> QuerySet[Memory]:
    return Memory.objects.filter(_unexpired(now), _lacking(wanted), embed_attempts__lt=ATTEMPTS)


def _lives(now: datetime) -> Q:
    return _unexpired(now) & (Q(retired_at=None) | Q(retired_as="invalidated", retired_at__gt=now))


def _unexpired(now: datetime) -> Q:
    return Q(expires_at=None) | Q(expires_at__gt=now)


def _lacking(wanted: Wanted) -> Q:
    return reduce(or_, (~Q(**{slot.model_column: model}) for slot, model in wanted.items()))


def _read(rows: QuerySet[Memory], *, lease: datetime | None) -> list[Unembedded]:
    columns = ("id", "title", "content", "embed_attempts", *(slot.model_column for slot in Slot))
    return [
        Unembedded(id, title, content, attempts, (first, second), lease)
        for id, title, content, attempts, first, second in rows.values_list(*columns)
    ]
