"""Consent: which categories there are, and when a person's memory in one of them may be kept (reference: Consent)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

_RANK = {
    "memory:preferences": 10,
    "memory:context": 10,
    "memory:history": 10,
    "memory:identity": 20,
    "memory:location": 20,
    "memory:health": 30,
    "analytics:aggregate": 10,
}
CATEGORIES = frozenset(_RANK)
"""Every category a save or an event may name; another one is refused."""
SENSITIVE = frozenset(category for category, rank in _RANK.items() if rank > 10)
"""Kept only with a grant; the others are kept until the person opts out."""


def upward(old: str | None, new: str | None) -> str | None:
    """The category of two sayings of one thing: the newer one, unless it is less sensitive."""
    return new if _RANK.get(new or "", 0) >= _RANK.get(old or "", 0) else old


class Refusal(StrEnum):
    """Why a person's memory is not kept."""

    OPTED_OUT = "opted_out"
    NOT_GRANTED = "not_granted"
    REVOKED = "revoked"
    UNKNOWN = "consent_unavailable"
    """Nobody could say, and the category needs a grant."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a person has agreed to and opted out of, as the privacy service has it; empty: they never said."""

    opted_out: bool = False
    opted_out_workspaces: frozenset[str] = frozenset()
    opted_out_agents: frozenset[str] = frozenset()
    grants: frozenset[str] = frozenset()
    updated_at: datetime | None = None

    def opts_out(self, *, workspace_names: Collection[str], agent: str | None) -> bool:
        return (
            self.opted_out
            or not self.opted_out_workspaces.isdisjoint(workspace_names)
            or agent in self.opted_out_agents
        )

    def granted_at(self, category: str) -> datetime | None:
        """When the category was granted at the latest; None without a grant, or when nobody says since when."""
        return self.updated_at if category in self.grants else None


EVERYTHING_GRANTED = Preferences(grants=CATEGORIES)
"""Where no privacy service is asked."""


def refusal(
    category: str | None, *, preferences: Preferences | None, vouched: Collection[str], out: bool
) -> Refusal | None:
    """Why a memory of this category is not kept, None when it may be.

    `preferences` is None when they could not be read. `vouched` are the categories the caller says the person
    granted for this request: they stand in for a stored grant, never for an opt-out.
    """
    if out:
        return Refusal.OPTED_OUT
    if category not in SENSITIVE or category in vouched:
        return None
    if preferences is None:
        return Refusal.UNKNOWN
    return None if category in preferences.grants else Refusal.NOT_GRANTED
