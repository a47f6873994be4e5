"""Applying a file of policies and workspaces: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from omnia.core.actor import Actor
from omnia.core.errors import FieldProblem, OmniaError, Unprocessable
from policies.domain.schema.crd import name_in
from policies.models import MemoryPolicy
from policies.services.edit import put_policy
from policies.services.editing import Outcome
from policies.services.workspaces import put_workspace


@dataclass(frozen=True, slots=True)
class Applied:
    """One document that was applied. `warning` says why its policy is in phase `Error`, or is empty."""

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
    applied: list[Applied] = []
    refused: list[Refused] = []
    with transaction.atomic():
        for number, document in enumerate(documents, start=1):
            label = _label(document, number)
            try:
                applied.append(_apply(document, label, actor, now))
            except Unprocessable as error:
                refused.append(Refused(label, error.errors))
        if refused:
            raise NothingApplied(refused)
    return applied


def _apply(document: object, label: str, actor: Actor, now: datetime) -> Applied:
    match document:
        case {"kind": "MemoryPolicy"}:
            policy, outcome = put_policy(document, actor=actor, now=now)
            return Applied(label, outcome, _warning(policy))
        case {"kind": "Workspace"}:
            return Applied(label, put_workspace(document, actor=actor, now=now)[1])
    problem = FieldProblem("/kind", "not_allowed", "must be MemoryPolicy or Workspace")
    raise Unprocessable("The document is of no kind known here.", code="invalid_document", errors=[problem])


def _warning(policy: MemoryPolicy) -> str:
    invalid = policy.phase == MemoryPolicy.Phase.ERROR
    return next((each["message"] for each in policy.conditions if invalid and each["type"] == "PolicyValid"), "")


def _label(document: object, number: int) -> str:
    """`memorypolicy/basic`, or the document's place in the file when it has no name or kind."""
    kind = document.get("kind") if isinstance(document, dict) else None
    name = name_in(document)
    return f"{kind.lower()}/{name}" if kind in ("MemoryPolicy", "Workspace") and name else f"document {number}"
