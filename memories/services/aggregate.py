"""Aggregate: how many live memories a workspace holds, by one of their attributes (design: /memories/aggregate)."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from memories.domain.aggregation import Aggregation
from memories.store import aggregate as store


def aggregate(wanted: Aggregation, *, workspace: UUID, user: str | None, now: datetime) -> list[dict[str, Any]]:
    """`{key, value, count}` by group: days in their order, everything else the largest first.

    `user` None counts everybody's; `value` is the metric asked for, `count` the memories.
    """
    return store.groups(wanted, workspace=workspace, user=user, now=now)
