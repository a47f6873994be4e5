"""Import: memories written down elsewhere, saved one by one for the owner the request names (design: import).

Who owned them before, and what the store made of them there, stays behind; what was said, and when, comes along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from memories.domain.save import Action, SaveCommand, SaveResult
from memories.services.remember_all import Save, remember_all
from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.errors import OmniaError
from omnia.core.scope import Scope
from policies.domain.effective import EffectivePolicy

EMBEDDED_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Imported:
    """How many memories were added and how many met one that was there, and the errors by place in the request."""

    imported: int
    merged: int
    skipped: int
    rejected: Mapping[int, OmniaError]

    def as_json(self) -> dict[str, Any]:
        rejected = [
            {"index": place, "code": error.code, "detail": error.detail} for place, error in self.rejected.items()
        ]
        return {"imported": self.imported, "merged": self.merged, "skipped": self.skipped, "rejected": rejected}


def import_all(
    items: Mapping[int, SaveCommand | OmniaError],
    *,
    skipped: int,
    scope: Scope,
    policy: EffectivePolicy,
    now: datetime,
    actor: Actor,
) -> Imported:
    """Saves the commands, which are all of `scope`; an item that could not be read counts as rejected.

    `items` go by their places in the request, where `skipped` others were marked as no longer held.
    """
    rejected = {place: item for place, item in items.items() if isinstance(item, OmniaError)}
    results: list[SaveResult] = []
    readable = [(place, item) for place, item in items.items() if not isinstance(item, OmniaError)]
    for start in range(0, len(readable), EMBEDDED_AT_ONCE):
        part = readable[start : start + EMBEDDED_AT_ONCE]
        for place, outcome in _remembered(part, policy=policy, now=now, actor=actor):
            if isinstance(outcome, OmniaError):
                rejected[place] = outcome
            else:
                results.append(outcome)
    added = sum(result.action is Action.ADDED for result in results)
    found = Imported(added, len(results) - added, skipped, dict(sorted(rejected.items())))
    with transaction.atomic():
        counts = found.as_json() | {"rejected": len(rejected)}
        record.memory_imported(scope=scope, actor=actor, memory=None, metadata=counts)
    return found


def _remembered(
    part: Sequence[tuple[int, SaveCommand]], *, policy: EffectivePolicy, now: datetime, actor: Actor
) -> list[tuple[int, SaveResult | OmniaError]]:
    outcomes = remember_all([Save(command, policy) for _, command in part], now=now, actor=actor)
    return [(place, outcome) for (place, _), outcome in zip(part, outcomes, strict=True)]
