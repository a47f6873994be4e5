"""How sure the store is of a memory, and how a repetition makes it surer (spec: dedup)."""

from __future__ import annotations

UNSTATED = 0.7
HIGHEST_EARNED = 0.99


def combined(old: float, *, stated: float | None) -> float:
    """The confidence after a merge, 0 to 1.

    A stated confidence replaces the old one. Otherwise two independent sources of 0.7 combine,
    capped at 0.99; what was already above the cap is never lowered.
    """
    if stated is not None:
        return stated
    return max(old, round(min(HIGHEST_EARNED, 1 - (1 - old) * (1 - UNSTATED)), 6))
