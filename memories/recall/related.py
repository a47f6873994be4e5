"""`related[]`: for every row of an answer its heaviest relations, in one statement (spec: maxRelatedPerMemory)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from memories.store.edges import outgoing, scan_parameters
from memories.store.scope_sql import LIVE, VISIBLE, visible
from omnia.core.scope import Scope
from omnia.db import fetch_dicts, load_sql

Related = dict[UUID, list[dict[str, Any]]]


def related(memories: Sequence[UUID], *, most: int, scope: Scope, institutional: bool, now: datetime) -> Related:
    """At most `most` relations of each memory to rows the scope may see, heaviest first; none for `most` 0."""
    if not memories or not most:
        return {}
    parameters = visible(scope, institutional=institutional, now=now).parameters | scan_parameters(scope)
    found: Related = {}
    for row in fetch_dicts(_statement(), parameters | {"memories": list(memories), "most": most}):
        found.setdefault(row["source_id"], []).append(row | {"direction": "outgoing"})
    return found


@cache
def _statement() -> str:
    return load_sql("memories", "related").format(outgoing=outgoing("given.id"), visible=VISIBLE, live=LIVE)
