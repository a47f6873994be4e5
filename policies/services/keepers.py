"""Where an admitted edit is kept: in the database row, or first in the cluster's object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import wraps
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from django.db import transaction

from omnia.core.actor import Actor
from omnia.core.errors import Conflict
from policies.domain.changes import told
from policies.domain.schema.crd import Checked
from policies.kube.current import cluster
from policies.kube.errors import Stale
from policies.services.in_cluster import InCluster
from policies.services.rows import Row, Rows

_ATTEMPTS = 3
P = ParamSpec("P")
R = TypeVar("R")


class Keeper(Protocol[Row]):
    """Takes admitted edits of one kind; each leaves the row as it is then, and its audit entry."""

    def held(self, name: str) -> AbstractContextManager[Row | None]:
        """The row to judge an edit by, for as long as the edit takes."""
        ...

    def create(self, checked: Checked, *, actor: Actor, now: datetime) -> Row: ...

    def update(self, row: Row, spec: dict[str, Any], *, actor: Actor, now: datetime) -> Row: ...

    def delete(self, row: Row, *, actor: Actor, with_contents: bool = False) -> None: ...


def keeper_of(rows: Rows[Row]) -> Keeper[Row]:
    """The keeper of one kind under the settings in force."""
    found = cluster()
    return InDatabase(rows) if found is None else InCluster(rows, found)


def again_when_stale(edit: Callable[P, R]) -> Callable[P, R]:
    """Repeats an edit the cluster refused because the object had moved on; the row is up to date by then."""

    @wraps(edit)
    def attempts(*args: P.args, **kwargs: P.kwargs) -> R:
        for _ in range(_ATTEMPTS):
            try:
                return edit(*args, **kwargs)
            except Stale:
                continue
        raise Conflict("It is being changed by someone else at this moment; try again.", code="edit_conflict")

    return attempts


class InDatabase(Generic[Row]):
    """The row is the object: judged and written under its lock, in one transaction."""

    def __init__(self, rows: Rows[Row]) -> None:
        self._rows: Rows[Row] = rows

    @contextmanager
    def held(self, name: str) -> Iterator[Row | None]:
        with transaction.atomic():
            yield self._rows.hold(name)

    def create(self, checked: Checked, *, actor: Actor, now: datetime) -> Row:
        row = self._rows.new(checked.name, now=now)
        self._rows.store(row, checked.spec, now=now)
        self._rows.note("created", row, actor=actor)
        return row

    def update(self, row: Row, spec: dict[str, Any], *, actor: Actor, now: datetime) -> Row:
        changes = told(row.spec, spec)
        row.generation += 1
        self._rows.store(row, spec, now=now)
        self._rows.note("changed", row, actor=actor, changes=changes)
        return row

    def delete(self, row: Row, *, actor: Actor, with_contents: bool = False) -> None:
        facts = self._rows.remove(row, with_contents=with_contents)
        self._rows.note("deleted", row, actor=actor, **facts)
