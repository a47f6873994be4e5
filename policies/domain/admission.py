"""Whether a document may be stored: its CRD, and the one rule a CRD cannot state because it needs a clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from omnia.core.errors import FieldProblem
from policies.domain.document import read_spec
from policies.domain.schema.crd import Checked, Crd

CLOCK_TOLERANCE = timedelta(seconds=120)
"""How far ahead of us the clock of whoever clears a freeze may be."""


def admit_policy(document: object, *, stored: Mapping[str, Any] | None, now: datetime) -> Checked:
    """Judges a MemoryPolicy document. `stored` is the spec it replaces, None for a new policy."""
    checked = Crd.load("memorypolicies").check(document, stored=stored)
    return replace(checked, problems=(*checked.problems, *_cleared_ahead(checked.document, stored, now)))


def admit_workspace(document: object, *, stored: Mapping[str, Any] | None) -> Checked:
    """Judges a Workspace document, likewise."""
    return Crd.load("workspaces").check(document, stored=stored)


def _cleared_ahead(
    document: Mapping[str, Any], stored: Mapping[str, Any] | None, now: datetime
) -> tuple[FieldProblem, ...]:
    cleared = _cleared_at(document.get("spec"))
    if cleared is None or cleared <= now + CLOCK_TOLERANCE or cleared == _cleared_at(stored):
        return ()
    detail = "must be at most two minutes ahead of the current time"
    return (FieldProblem("/spec/gate/canaries/clearedAt", "too_far_ahead", detail),)


def _cleared_at(spec: object) -> datetime | None:
    gate = read_spec(spec).gate
    return None if gate is None else gate.canaries.cleared_at
