"""Export: everything held on a user, as it is held (design: GET /memories/export).

What is in the trash or has expired and was not yet deleted is there too, and says so; so are the earlier wordings.
The rows are read in pages, so that an export takes no more memory than one page whatever there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db import transaction

from memories.store import held
from memories.store.rows import memory_object
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.errors import BadInput
from omnia.core.scope import Scope

PAGE = 500


def export(scope: Scope, *, now: datetime, actor: Actor) -> Iterator[dict[str, Any]]:
    """The user's memories, oldest first, whatever the agent unless one is named.

    The export is in the audit before the first row is out. Raises BadInput `user_required` without a user.
    """
    if scope.user is None:
        raise BadInput("Name the user whose memories are to be exported.", code="user_required")
    with transaction.atomic():
        rows = held.count(scope)
        record.memory_exported(scope=scope, actor=actor, memory=None, metadata={"memories": rows})
    return _exported(scope, now=now)


def _exported(scope: Scope, *, now: datetime) -> Iterator[dict[str, Any]]:
    for page in held.pages(scope, size=PAGE):
        wordings = held.wordings([row["id"] for row in page])
        said = {memory: [*rows] for memory, rows in groupby(wordings, key=lambda row: row.pop("memory_id"))}
        for row in page:
            yield memory_object(row) | _marks(row, now=now) | {"history": said.get(row["id"], [])}


def _marks(row: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
    """Why the memory is no longer live; nothing when it is."""
    marks: dict[str, Any] = {}
    if row["retired_as"] is not None and (row["retired_as"] != "invalidated" or row["retired_at"] <= now):
        marks[f"{row['retired_as']}_at"] = row["retired_at"]
    if row["superseded_by_id"] is not None:
        marks["superseded_by"] = row["superseded_by_id"]
    if row["expires_at"] is not None and row["expires_at"] <= now:
        marks["expired"] = True
    return marks
