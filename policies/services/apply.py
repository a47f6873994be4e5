"""Applying a file of policies and workspaces: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from omnia.core.actor import Actor
from omnia.core.errors import FieldProblem, OmniaError, Unprocessable
from policies.domain.conditions import warnings
from policies.domain.plan import UNKNOWN_KIND, Entry
from policies.models import MemoryPolicy, Workspace
from policies.services.edit import put_policy
from policies.services.editing import Outcome
from policies.services.workspaces import put_workspace


@dataclass(frozen=True, slots=True)
class Applied:
    """One document that was applied. `warnings` go on after the label: what it is, yet hardly meant to be."""

    label: str
    outcome: Outcome
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """One document that was refused, where it stands, and every reason."""

    place: str
    problems: tuple[FieldProblem, ...]


class NothingApplied(OmniaError):
    """At least one document was refused, so none was applied."""

    status, default_code = 422, "nothing_applied"

    def __init__(self, refused: Sequence[Refused]) -> None:
        super().__init__("A document was refused, so none was applied.")
        self.refused = tuple(refused)


def apply_documents(entries: Iterable[Entry], *, actor: Actor, now: datetime) -> list[Applied]:
    """Creates or replaces each document in order, in one transaction.

    Raises NothingApplied with the problems of every document, not of the first alone.
    """
    applied: list[tuple[str, MemoryPolicy | Workspace, Outcome]] = []
    refused: list[Refused] = []
    with transaction.atomic():
        for entry in entries:
            try:
                applied.append((entry.label, *_apply(entry, actor, now)))
            except Unprocessable as error:
                refused.append(Refused(entry.place, error.errors))
        if refused:
            raise NothingApplied(refused)
        return [Applied(label, outcome, tuple(_warnings(row))) for label, row, outcome in applied]


def _apply(entry: Entry, actor: Actor, now: datetime) -> tuple[MemoryPolicy | Workspace, Outcome]:
    match entry.kind:
        case "MemoryPolicy":
            return put_policy(entry.document, actor=actor, now=now)
        case "Workspace":
            return put_workspace(entry.document, actor=actor, now=now)
    raise Unprocessable("The document is of no kind known here.", code="invalid_document", errors=[UNKNOWN_KIND])


def _warnings(row: MemoryPolicy | Workspace) -> Iterator[str]:
    """Looked for once every document is there: a workspace may stand before its policy."""
    if isinstance(row, MemoryPolicy):
        yield from warnings(row.conditions)
        return
    bound = row.service_groups.exclude(policy_name="").order_by("name").values_list("policy_name", flat=True)
    known = set(MemoryPolicy.objects.filter(name__in=bound).values_list("name", flat=True))
    if missing := ", ".join(dict.fromkeys(name for name in bound if name not in known)):
        yield f"runs without a policy until there is one of the name {missing}"
