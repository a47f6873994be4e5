"""How many memories have the vector they should, by workspace. Counting reads every row, so that a worker does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from memories.store.embedding_models import Turn
from memories.store.unembedded import ATTEMPTS
from omnia.db import execute, fetch_dicts

_COUNT = """
SELECT m.workspace_id, count(*) AS memories,
    count(*) FILTER (WHERE m.{model_column} = %(row)s::smallint) AS embedded,
    count(*) FILTER (WHERE m.{model_column} IS DISTINCT FROM %(row)s::smallint AND m.embed_attempts >= %(attempts)s)
        AS given_up
FROM memories_memory m WHERE m.expires_at IS NULL OR m.expires_at > statement_timestamp() GROUP BY m.workspace_id
"""
_KEEP = """
INSERT INTO memories_embedding_coverage (workspace_id, memories, embedded, given_up)
SELECT w.uid, c.memories, c.embedded, c.given_up
FROM unnest(%(workspaces)s::uuid[], %(memories)s::bigint[], %(embedded)s::bigint[], %(given_up)s::bigint[])
    AS c (workspace, memories, embedded, given_up) JOIN policies_workspace w ON w.uid = c.workspace
"""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Memories that have not expired; of them those with the vector, and those whose text the model refused for good."""

    workspace: UUID | None
    memories: int
    embedded: int
    given_up: int

    @property
    def backlog(self) -> int:
        """Those whose vector is still to be made."""
        return self.memories - self.embedded - self.given_up

    @property
    def share(self) -> float:
        """1 where there is nothing left to embed, or nothing at all."""
        return self.embedded / self.memories if self.memories else 1.0


def count(turn: Turn) -> list[Coverage]:
    """By workspace, for the vectors of this turn's model."""
    sql = _COUNT.format(model_column=turn.slot.model_column)
    rows = fetch_dicts(sql, {"row": turn.row, "attempts": ATTEMPTS})
    return [Coverage(row["workspace_id"], row["memories"], row["embedded"], row["given_up"]) for row in rows]


def total(counted: list[Coverage]) -> Coverage:
    """Of all workspaces together."""
    return Coverage(
        None,
        sum(each.memories for each in counted),
        sum(each.embedded for each in counted),
        sum(each.given_up for each in counted),
    )


def keep(counted: list[Coverage]) -> None:
    """In the place of what was counted before."""
    columns: dict[str, Any] = {
        "workspaces": [each.workspace for each in counted],
        "memories": [each.memories for each in counted],
        "embedded": [each.embedded for each in counted],
        "given_up": [each.given_up for each in counted],
    }
    with transaction.atomic():
        execute("DELETE FROM memories_embedding_coverage", {})
        execute(_KEEP, columns)


def kept() -> list[Coverage]:
    rows = fetch_dicts("SELECT * FROM memories_embedding_coverage", {})
    return [Coverage(row["workspace_id"], row["memories"], row["embedded"], row["given_up"]) for row in rows]
