"""Applying a file of policies and workspaces: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from omnia.core.actor import Actor
from omnia.core.errors import FieldProblem, OmniaError, Unprocessable
from policies.domain.schema.crd import name_in
from policies.models import MemoryPolicy, Workspace
from policies.services.edit import put_policy
from policies.services.editing import Outcome
from policies.services.workspaces import put_workspace


@dataclass(frozen=True, slots=True)
class Applied:
    """One document that was applied. `warning` goes on after the label: what it is, yet hardly meant to be. Or empty."""

    label: str
    outcome: Outcome
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """One document that was refused, and every reason."""

    label: str
    problems: tuple[FieldProblem, ...]


class NothingApplied(OmniaError):
    """At least one document was refused, so none was applied."""

    status, default_code = 422, "nothing_applied"

    def __init__(self, refused: Sequence[Refused]) -> None:
        super().__init__("A document was refused, so none was applied.")
        self.refused = tuple(refused)


def apply_documents(documents: Sequence[object], *, actor: Actor, now: datetime) -> list[Applied]:
    """Creates or replaces each document in order, in one transaction.

    Raises NothingApplied with the problems of every document, not of the first alone.
    """
    applied: list[tuple[str, MemoryPolicy | Workspace, Outcome]] = []
    refused: list[Refused] = []
    with transaction.atomic():
        for number, document in enumerate(documents, start=1):
            label = _label(document, number)
            try:
                applied.append((label, *_apply(document, actor, now)))
            except Unprocessable as error:
                refused.append(Refused(label, error.errors))
        if refused:
            raise NothingApplied(refused)
        return [Applied(label, outcome, _warning(row)) for label, row, outcome in applied]


def _apply(document: object, actor: Actor, now: datetime) -> tuple[MemoryPolicy | Workspace, Outcome]:
    match document:
        case {"kind": "MemoryPolicy"}:
            return put_policy(document, actor=actor, now=now)
        case {"kind": "Workspace"}:
            return put_workspace(document, actor=actor, now=now)
    problem = FieldProblem("/kind", "not_allowed", "must be MemoryPolicy or Workspace")
    raise Unprocessable("The document is of no kind known here.", code="invalid_document", errors=[problem])


def _warning(row: MemoryPolicy | Workspace) -> str:
    """Looked for once every document is there: a workspace may stand before its policy."""
    if isinstance(row, Workspace):
        bound = row.service_groups.exclude(policy_name="").order_by("name").values_list("policy_name", flat=True)
        known = set(MemoryPolicy.objects.filter(name__in=bound).values_list("name", flat=True))
        missing = ", ".join(dict.fromkeys(name for name in bound if name not in known))
        return f"runs without a policy until there is one of the name {missing}" if missing else ""
    invalid = row.phase == MemoryPolicy.Phase.ERROR
    why = next((each["message"] for each in row.conditions if invalid and each["type"] == "PolicyValid"), "")
    return f"is in phase Error: {why}" if why else ""


def _label(document: object, number: int) -> str:
    """`memorypolicy/basic`, or the document's place in the file when it has no name or kind."""
    kind = document.get("kind") if isinstance(document, dict) else None
    name = name_in(document)
    return f"{kind.lower()}/{name}" if kind in ("MemoryPolicy", "Workspace") and name else f"document {number}"
