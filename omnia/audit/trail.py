"""Reading the audit trail, newest first. Every reading names its workspace, or all of them outright."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from omnia.db import fetch_dicts

EVERYWHERE = "everywhere"
Place = UUID | str
"""A workspace, or EVERYWHERE: every workspace's rows, and those of none, such as policies' and tokens'."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows. Empty `events` are any; `subject_hash` is a person's pseudonym; `since` counts, `until` does not.

    `memories`, where given, are the only ones whose events are meant.
    """

    place: Place
    events: Sequence[str] = ()
    subject_hash: str = ""
    actor: str = ""
    since: datetime | None = None
    until: datetime | None = None
    memories: Sequence[UUID] | None = None


@dataclass(frozen=True, slots=True)
class After:
    """The place of the last row of the page before."""

    at: datetime
    id: UUID


def newest(wanted: Wanted, *, limit: int, offset: int = 0, after: After | None = None) -> list[dict[str, Any]]:
    """Up to `limit` rows."""
    where, values = _where(wanted)
    if after:
        where += " AND (a.at, a.id) < (%(after_at)s, %(after_id)s)"
        values = {**values, "after_at": after.at, "after_id": after.id}
    sql = f"SELECT a.* FROM omnia_audit a WHERE {where} ORDER BY a.at DESC, a.id DESC LIMIT %(limit)s OFFSET %(offset)s"
    return fetch_dicts(sql, {**values, "limit": limit, "offset": offset})


def count(wanted: Wanted) -> int:
    where, values = _where(wanted)
    return int(fetch_dicts(f"SELECT count(*) FROM omnia_audit a WHERE {where}", values)[0]["count"])


def event_names(place: Place) -> list[str]:
    """The events there are at the place, each once."""
    where, values = _where(Wanted(place))
    sql = f"SELECT DISTINCT a.event FROM omnia_audit a WHERE {where} ORDER BY a.event"
    return [row["event"] for row in fetch_dicts(sql, values)]


def entry(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row in the wire form; what is not known is left out."""
    always = {name: row[name] for name in ("id", "at", "event", "workspace_id", "actor", "request_id", "metadata")}
    known = {name: row[name] for name in ("subject_hash", "memory_id", "user_agent", "reason") if row[name]}
    return always | known | ({"ip": str(row["ip"])} if row["ip"] else {})


def _where(wanted: Wanted) -> tuple[str, dict[str, Any]]:
    conditions = (
        ("workspace", None if wanted.place == EVERYWHERE else wanted.place, "a.workspace_id = %(workspace)s"),
        ("events", list(wanted.events) or None, "a.event = ANY(%(events)s)"),
        ("subject", wanted.subject_hash or None, "a.subject_hash = %(subject)s"),
        ("actor", wanted.actor or None, "a.actor = %(actor)s"),
        ("since", wanted.since, "a.at >= %(since)s"),
        ("until", wanted.until, "a.at < %(until)s"),
        ("memories", None if wanted.memories is None else list(wanted.memories), "a.memory_id = ANY(%(memories)s)"),
    )
    used = [(name, value, sql) for name, value, sql in conditions if value is not None]
    return " AND ".join(["true", *(sql for _, _, sql in used)]), {name: value for name, value, _ in used}
