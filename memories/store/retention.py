"""How many rows retention deleted: by day, tier and cause, for each workspace. Numbers only."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from uuid import UUID

from memories.domain.retention import Cause, DayCount, Period, RunReport
from memories.store.removal import Removed
from omnia.core.scope import Tier
from omnia.db import execute, fetch_dicts

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


def days(workspace: UUID, period: Period) -> list[DayCount]:
    """The counts of the period, by day and tier; a day or tier without any is left out."""
    rows = fetch_dicts(
        "SELECT day, tier, cause, rows FROM memories_retention_count"
        " WHERE workspace_id = %(workspace)s AND day >= %(first)s AND day < %(end)s ORDER BY day, tier",
        {"workspace": workspace, "first": period.first, "end": period.end},
    )
    counts: dict[tuple[date, int], Counter[Cause]] = {}
    for row in rows:
        counts.setdefault((row["day"], row["tier"]), Counter())[Cause(row["cause"])] = row["rows"]
    return [DayCount(day, Tier.from_code(tier), count) for (day, tier), count in counts.items()]


def last_run(workspace: UUID) -> RunReport | None:
    """The run of maintenance that is latest due, with what it deleted of the workspace."""
    rows = fetch_dicts(
        "SELECT r.started_at, r.finished_at, r.status, (SELECT coalesce(sum(c.run_rows), 0)::bigint"
        " FROM memories_retention_count c WHERE c.workspace_id = %(workspace)s AND c.run_id = r.id) AS deleted"
        " FROM memories_maintenance_run r ORDER BY r.due_at DESC LIMIT 1",
        {"workspace": workspace},
    )
    return RunReport(**rows[0]) if rows else None


def totals() -> list[tuple[Tier, Cause, int]]:
    """The numbers of all workspaces and days together, by tier and cause."""
    rows = fetch_dicts(
        "SELECT tier, cause, sum(rows)::bigint AS rows FROM memories_retention_count GROUP BY tier, cause ORDER BY 1, 2",
        {},
    )
    return [(Tier.from_code(row["tier"]), Cause(row["cause"]), row["rows"]) for row in rows]
