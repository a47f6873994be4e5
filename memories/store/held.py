"""Everything held on a user, live or not: what an export reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from memories.store.rows import FROM, SELECT
from omnia.core.scope import Scope
from omnia.db import fetch_dicts

_FIRST = UUID(int=0)


def count(scope: Scope) -> int:
    """How many rows there are."""
    owned, parameters = _owned(scope)
    [row] = fetch_dicts(f"SELECT count(*) AS rows FROM memories_memory m WHERE {owned}", parameters)
    return int(row["rows"])


def pages(scope: Scope, *, size: int) -> Iterator[list[dict[str, Any]]]:
    """The columns of memory objects and how each left, oldest first, at most `size` rows at a time."""
    owned, parameters = _owned(scope)
    sql = (
        f"SELECT {SELECT}, m.retired_at, m.retired_as, m.superseded_by_id FROM {FROM}"
        f" WHERE {owned} AND m.id > %(after)s ORDER BY m.id LIMIT %(size)s"
    )
    after = _FIRST
    while rows := fetch_dicts(sql, parameters | {"after": after, "size": size}):
        yield rows
        after = rows[-1]["id"]


def wordings(memories: Sequence[UUID]) -> list[dict[str, Any]]:
    """The earlier wordings of these memories, memory by memory, newest first."""
    return fetch_dicts(
        "SELECT memory_id, type, content, title, summary, confidence, said_at, replaced_at, reason, actor"
        " FROM memories_wording WHERE memory_id = ANY(%(ids)s) ORDER BY memory_id, replaced_at DESC, id DESC",
        {"ids": list(memories)},
    )


def _owned(scope: Scope) -> tuple[str, dict[str, Any]]:
    """The rows of a user: of every agent, or of the one that is named."""
    agent = "" if scope.agent is None else " AND m.agent_id = %(agent)s"
    parameters = {"workspace": scope.workspace, "user": scope.user, "agent": scope.agent}
    return f"m.workspace_id = %(workspace)s AND m.user_id = %(user)s{agent}", parameters
