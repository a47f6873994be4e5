"""The statement that counts live memories by one of their attributes."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from memories.domain.aggregation import Aggregation, GroupBy, Metric
from memories.store.scope_sql import LIVE
from omnia.core.scope import Tier
from omnia.db import fetch_dicts

UNCATEGORIZED = "uncategorized"
_KEY = {
    GroupBy.CATEGORY: f"coalesce(m.consent_category, '{UNCATEGORIZED}')",
    GroupBy.AGENT: "m.agent_id",
    GroupBy.DAY: "to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
    GroupBy.TIER: "CASE m.tier {} END".format(" ".join(f"WHEN {tier.code} THEN '{tier.value}'" for tier in Tier)),
    GroupBy.TYPE: "m.type",
}
_VALUE = {Metric.COUNT: "count(*)", Metric.DISTINCT_USERS: "count(DISTINCT m.user_id)"}


def groups(wanted: Aggregation, *, workspace: UUID, user: str | None, now: datetime) -> list[dict[str, Any]]:
    """Rows without an agent have no group by agent. The keys and values come from a fixed list, never from a request."""
    order = "key" if wanted.group_by is GroupBy.DAY else "value DESC, key"
    sql = f"""
    SELECT key, value, count FROM (
        SELECT {_KEY[wanted.group_by]} AS key, {_VALUE[wanted.metric]} AS value, count(*) AS count
        FROM memories_memory m
        WHERE m.workspace_id = %(workspace)s AND {LIVE}
            AND (%(user)s::text IS NULL OR m.user_id = %(user)s)
            AND (%(since)s::timestamptz IS NULL OR m.created_at >= %(since)s)
            AND (%(until)s::timestamptz IS NULL OR m.created_at < %(until)s)
        GROUP BY 1
    ) counted WHERE key IS NOT NULL ORDER BY {order} LIMIT %(limit)s
    """
    return fetch_dicts(
        sql,
        {
            "workspace": workspace,
            "user": user,
            "now": now,
            "since": wanted.since,
            "until": wanted.until,
            "limit": wanted.limit,
        },
    )
