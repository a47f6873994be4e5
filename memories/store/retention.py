"""How many rows retention deleted: by day, tier and cause, for each workspace. Numbers only."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from memories.models import RetentionCount
from memories.store.removal import Removed
from omnia.db import execute

Cause = RetentionCount.Cause

_ADD = """
INSERT INTO memories_retention_count AS c (workspace_id, day, tier, cause, rows, run_id, run_rows)
SELECT n.workspace, %(day)s::date, n.tier, %(cause)s, n.rows, %(run)s::uuid, n.rows
FROM unnest(%(workspaces)s::uuid[], %(tiers)s::smallint[], %(rows)s::bigint[]) AS n (workspace, tier, rows)
ON CONFLICT (workspace_id, day, tier, cause) DO UPDATE SET
    rows = c.rows + excluded.rows,
    run_id = coalesce(excluded.run_id, c.run_id),
    run_rows = CASE WHEN excluded.run_id IS NULL THEN c.run_rows
        WHEN excluded.run_id = c.run_id THEN c.run_rows + excluded.rows ELSE excluded.rows END
"""


def add(removed: Removed, *, cause: Cause, now: datetime, run: UUID | None = None) -> None:
    """Counts what was deleted, in the transaction that deleted it; `run` is the maintenance run it happened in."""
    counts = sorted((workspace, tier.code, rows) for (workspace, tier), rows in removed.items())
    parameters = {
        "workspaces": [workspace for workspace, _, _ in counts],
        "tiers": [tier for _, tier, _ in counts],
        "rows": [rows for _, _, rows in counts],
        "day": now.astimezone(UTC).date(),
        "cause": cause.value,
        "run": run,
    }
    execute(_ADD, parameters)
