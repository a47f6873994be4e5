"""Consent categories (reference: Consent)."""

from __future__ import annotations

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


def upward(old: str | None, new: str | None) -> str | None:
    """The category of two sayings of one thing: the newer one, unless it is less sensitive."""
    return new if _RANK.get(new or "", 0) >= _RANK.get(old or "", 0) else old
