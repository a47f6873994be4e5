"""The audit trail as its readers ask for it: by person and session, a page at a time or all of it (reference: Audit).

A person is asked for by their id and looked for by their pseudonym; the trail itself names nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.store import memories
from omnia.api.pagination import decode_cursor, encode_cursor
from omnia.audit import trail
from omnia.audit.pseudonym import pseudonym
from omnia.audit.trail import After, Wanted

_PURPOSE = "audit"
_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Trail:
    """Entries in the wire form, how many there are in all, and where the next page begins."""

    entries: list[dict[str, Any]]
    total: int
    next: str | None

    def as_json(self) -> dict[str, Any]:
        return {"entries": self.entries, "total": self.total, "next": self.next}


def wanted_of(wanted: Wanted, *, person: str | None = None, session: str | None = None) -> Wanted:
    """The same rows, of one person and of the memories still there of one session."""
    narrowed = replace(wanted, subject_hash=pseudonym(person)) if person else wanted
    if session is None or not isinstance(wanted.place, UUID):
        return narrowed
    return replace(narrowed, memories=memories.of_session(session, workspace=wanted.place))


def read_trail(wanted: Wanted, *, limit: int, cursor: str | None) -> Trail:
    """One page, newest first. Raises BadInput `invalid_cursor` for a cursor that is not ours."""
    rows = trail.newest(wanted, limit=limit + 1, after=_after(cursor) if cursor else None)
    shown = rows[:limit]
    further = (
        encode_cursor([shown[-1]["at"].isoformat(), shown[-1]["id"].hex], purpose=_PURPOSE) if rows[limit:] else None
    )
    return Trail([trail.entry(row) for row in shown], trail.count(wanted), further)


def whole_trail(wanted: Wanted) -> Iterator[dict[str, Any]]:
    """Every entry, newest first, read a batch at a time."""
    after: After | None = None
    while rows := trail.newest(wanted, limit=_BATCH, after=after):
        yield from map(trail.entry, rows)
        after = After(rows[-1]["at"], rows[-1]["id"])


def _after(cursor: str) -> After:
    at, row = decode_cursor(cursor, purpose=_PURPOSE)
    return After(datetime.fromisoformat(str(at)), UUID(str(row)))
