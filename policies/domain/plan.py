"""What applying a file would come to, told without writing: for CI, where there is no store, and for a diff.

Judged as applying judges it: as an update of what is stored, and a later document after an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from omnia.core.errors import FieldProblem
from policies.domain.admission import admit_policy, admit_workspace
from policies.domain.conditions import Status, status_of
from policies.domain.schema.crd import name_in

KINDS = {"MemoryPolicy": "memorypolicies", "Workspace": "workspaces"}
"""The kinds of document there are, with the CRD of each."""
UNKNOWN_KIND = FieldProblem("/kind", "not_allowed", f"must be {' or '.join(KINDS)}")

Specs = Mapping[tuple[str, str], Mapping[str, Any]]
"""Specs by kind and name."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One document of a file, and how a message names it: `memorypolicy/basic`, else its place in the file."""

    document: object
    label: str
    origin: str

    @property
    def kind(self) -> str | None:
        """The document's kind; None when it is none of `KINDS`."""
        kind = self.document.get("kind") if isinstance(self.document, dict) else None
        return kind if isinstance(kind, str) and kind in KINDS else None

    @property
    def place(self) -> str:
        return f"{self.origin}: {self.label}"


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one document: the spec before and after it, each None where there is none.

    `problems` refuse it. A policy without any has a status, whose phase may still be `Error`.
    """

    entry: Entry
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    problems: tuple[FieldProblem, ...] = ()
    status: Status | None = None


def entries_of(documents: Iterable[object], *, origin: str) -> list[Entry]:
    """The documents of one file, in order."""
    return [Entry(each, _label(each, number), origin) for number, each in enumerate(documents, start=1)]


def plan(entries: Iterable[Entry], *, stored: Specs, now: datetime) -> Iterator[Step]:
    """A step for each document, judged as an update of what is `stored`; where nothing is, as a new one."""
    specs = dict(stored)
    for entry in entries:
        key = (entry.kind or "", name_in(entry.document))
        step = _step(entry, before=specs.get(key), now=now)
        if step.after is not None:
            specs[key] = step.after
        yield step


def _step(entry: Entry, *, before: Mapping[str, Any] | None, now: datetime) -> Step:
    if entry.kind is None:
        return Step(entry, problems=(UNKNOWN_KIND,))
    is_policy = entry.kind == "MemoryPolicy"
    checked = (
        admit_policy(entry.document, stored=before, now=now)
        if is_policy
        else admit_workspace(entry.document, stored=before)
    )
    if checked.problems:
        return Step(entry, before, problems=checked.problems)
    status = status_of(checked.spec, generation=1, now=now) if is_policy else None
    return Step(entry, before, checked.spec, status=status)


def _label(document: object, number: int) -> str:
    kind = document.get("kind") if isinstance(document, dict) else None
    name = name_in(document)
    return f"{kind.lower()}/{name}" if isinstance(kind, str) and kind in KINDS and name else f"document {number}"
