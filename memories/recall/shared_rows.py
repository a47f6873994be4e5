"""How many rows the shared tiers of a scope hold: a cached count that picks between two right plans."""

from __future__ import annotations

from threading import Lock

from cachetools import TTLCache, cached

from omnia.core.scope import Scope
from omnia.db import fetch_dicts

_COUNT = """
SELECT count(*) AS rows FROM memories_memory m
WHERE m.workspace_id = %(workspace)s
    AND (m.tier = 0 AND %(institutional)s OR m.tier = 1 AND m.agent_id = %(agent)s)
"""
_counts: TTLCache[tuple[object, ...], int] = TTLCache(maxsize=10_000, ttl=60)


@cached(_counts, key=lambda scope, *, institutional: (scope.workspace, scope.agent, institutional), lock=Lock())
def shared_rows(scope: Scope, *, institutional: bool) -> int:
    """The rows of the institutional tier and the agent's, at most a minute ago."""
    [row] = fetch_dicts(_COUNT, {"workspace": scope.workspace, "agent": scope.agent, "institutional": institutional})
    return int(row["rows"])


def forget_counts() -> None:
    """Counts anew from the next recall on."""
    _counts.clear()
