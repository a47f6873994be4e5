"""What memories may be counted by (design: /memories/aggregate)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class GroupBy(StrEnum):
    CATEGORY = "category"
    AGENT = "agent"
    DAY = "day"
    TIER = "tier"
    TYPE = "type"


class Metric(StrEnum):
    COUNT = "count"
    DISTINCT_USERS = "distinct_users"


@dataclass(frozen=True, slots=True)
class Aggregation:
    """A count of live memories. `since` counts, `until` does not; days are UTC."""

    group_by: GroupBy
    metric: Metric
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 100
