"""A dry run of an edit: what admission would say, and the status the policy would have."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from omnia.core.errors import FieldProblem
from policies.domain.admission import admit_policy
from policies.domain.conditions import status_of
from policies.domain.schema.crd import name_in
from policies.models import MemoryPolicy


@dataclass(frozen=True, slots=True)
class Verdict:
    """`valid` is False when admission refuses the document or its phase would be `Error`."""

    valid: bool
    errors: tuple[FieldProblem, ...]
    conditions: list[dict[str, Any]]


def check_policy(document: object, *, as_create: bool = False, now: datetime) -> Verdict:
    """Judges a policy document as an update of the policy it names, when there is one.

    `as_create` applies the rules for new policies whatever exists: no ratcheting. A document admission
    refuses has no conditions.
    """
    row = None if as_create else MemoryPolicy.objects.filter(name=name_in(document)).first()
    checked = admit_policy(document, stored=row.spec if row else None, now=now)
    if checked.problems:
        return Verdict(False, checked.problems, [])
    generation = 1 if row is None else row.generation + (checked.spec != row.spec)
    status = status_of(checked.spec, generation=generation, now=now, previous=row.conditions if row else ())
    return Verdict(not status.problems, status.problems, status.conditions)
