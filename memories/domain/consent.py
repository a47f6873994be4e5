"""Consent categories (reference: Consent)."""

from __future__ import annotations

CATEGORIES = frozenset(
    {
        "memory:preferences",
        "memory:context",
        "memory:history",
        "memory:identity",
        "memory:location",
        "memory:health",
        "analytics:aggregate",
    }
)
"""Every category a save or an event may name; another one is refused."""
