"""A cluster's object as a row: for the answer to an edit and for an event of a watch alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic
from uuid import UUID

from policies.domain.changes import told
from policies.kube.port import Document
from policies.services.editing import Outcome
from policies.services.rows import Row, Rows


@dataclass(frozen=True, slots=True)
class Mirrored(Generic[Row]):
    """The row as it is now, what became of it, and what changed in its spec, for the audit."""

    row: Row
    outcome: Outcome
    changes: list[dict[str, Any]]


def mirror(rows: Rows[Row], document: Document, *, now: datetime, newest: bool = False) -> Mirrored[Row]:
    """Brings the row up to the object, in the caller's transaction.

    An object older than the row is passed over: an edit's answer may have been faster than its event.
    `newest` says that it is what the server has now, whatever its version; a restored backup counts back.
    """
    name = document["metadata"]["name"]
    row = rows.hold(name)
    if row is not None and not is_of(row, document):
        rows.take_leave(row)
        row = None
    if row is None:
        return _first(rows, document, now)
    if not newest and _number(row.resource_version) > _number(document["metadata"]["resourceVersion"]):
        return Mirrored(row, Outcome.UNCHANGED, [])
    return _next(rows, row, document, now)


def is_of(row: Any, document: Document) -> bool:
    """Whether the row is of this very object, not of another one that had its name."""
    return bool(row.uid == UUID(document["metadata"]["uid"]))


def _first(rows: Rows[Row], document: Document, now: datetime) -> Mirrored[Row]:
    row = rows.new(document["metadata"]["name"], now=now)
    rows.identify(row, document)
    rows.store(row, document["spec"], now=now)
    return Mirrored(row, Outcome.CREATED, [])


def _next(rows: Rows[Row], row: Row, document: Document, now: datetime) -> Mirrored[Row]:
    spec = document["spec"]
    same = (row.generation, row.spec) == (document["metadata"]["generation"], spec)
    changes = told(row.spec, spec)
    rows.identify(row, document)
    if same:
        row.save(update_fields=["resource_version"])
        return Mirrored(row, Outcome.UNCHANGED, [])
    rows.store(row, spec, now=now)
    return Mirrored(row, Outcome.CONFIGURED, changes)


def _number(version: str) -> int:
    """Versions of one server are decimal numbers that only grow."""
    return int(version) if version.isdecimal() else 0
