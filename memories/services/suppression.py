"""The suppression list: whom not to bring back when an older backup is restored (reference: erasure).

It holds keyed hashes, never names. It is kept in the database, and appended to a file where one is set, because a
restored database has forgotten the erasures that came after its backup.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings

from memories.store import erasures
from omnia.api.moments import parse_moment
from omnia.audit.pseudonym import suppression_hash


class UnreadableList(ValueError):
    """A line of the list is none."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """A person who was erased, in a workspace or (None) everywhere."""

    subject_hash: str
    workspace: UUID | None
    erased_at: datetime

    def as_line(self) -> bytes:
        facts = {"subject_hash": self.subject_hash, "workspace_id": self.workspace, "erased_at": self.erased_at}
        return orjson.dumps(facts, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)

    @staticmethod
    def from_line(line: str | bytes) -> Suppression:
        """Raises UnreadableList."""
        try:
            facts = orjson.loads(line)
            workspace = facts["workspace_id"]
            return Suppression(
                subject_hash=str(facts["subject_hash"]),
                workspace=UUID(workspace) if workspace is not None else None,
                erased_at=parse_moment(facts["erased_at"]),
            )
        except (ValueError, TypeError, LookupError, AttributeError):
            raise UnreadableList("not a line of a suppression list") from None


def listed() -> Iterator[Suppression]:
    """Everybody this database knows to be erased, oldest first."""
    for row in erasures.suppressions():
        yield Suppression(row["subject_hash"], row["workspace_id"], row["erased_at"])


def append(row: Mapping[str, Any]) -> None:
    """Adds a finished erasure to the file of OMNIA_SUPPRESSION_FILE, safely on disk; twice does no harm."""
    path = settings.OMNIA.suppression_file
    if not path:
        return
    line = Suppression(row["subject_hash"], row["workspace_id"], row["before"] or row["erased_at"]).as_line()
    with Path(path).open("ab") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def found(suppressions: Iterable[Suppression]) -> Iterator[tuple[str, Suppression]]:
    """The persons of the list who are here, each with the latest entry that concerns them."""
    latest: dict[tuple[str, UUID | None], Suppression] = {}
    for each in suppressions:
        key = each.subject_hash, each.workspace
        if key not in latest or latest[key].erased_at < each.erased_at:
            latest[key] = each
    for person, workspaces in _everybody().items():
        for workspace in (None, *workspaces):
            entry = latest.get((suppression_hash(person), workspace))
            if entry:
                yield person, entry


def _everybody() -> dict[str, set[UUID]]:
    persons: dict[str, set[UUID]] = {}
    for workspace, person in erasures.persons():
        persons.setdefault(person, set()).add(workspace)
    return persons
