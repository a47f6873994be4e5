"""`manage.py policy validate|diff|apply|export`: policies and workspaces as files (policy as code).

`validate` needs neither a database nor a setting, so that CI can run it. What a file may hold is judged by the
same rules everywhere: those of the custom resource.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from omnia.core.actor import Actor
from omnia.core.errors import FieldProblem, NotFound
from policies.domain.conditions import warnings
from policies.domain.manifest import dump_document
from policies.domain.plan import KINDS, Step, plan
from policies.domain.schema.crd import Crd, name_in
from policies.kube.current import cluster
from policies.management.files import read_entries
from policies.services.apply import NothingApplied, apply_documents
from policies.services.stored import export_documents, stored_specs

ACTOR = Actor(name="system:policy")
DIFFERENT, REFUSED = 1, 2
"""What `diff` exits with, as diff(1) does: there are differences; a document is refused."""
_OF_FILES = {
    "validate": "say what is wrong with files; needs no database (exit status 1: something is)",
    "diff": "show what applying files would change (exit status 1: something; 2: a document is refused)",
    "apply": "create or replace the documents of files, all or nothing",
}


class Command(BaseCommand):
    help = "Policies and workspaces as files: checked, compared with what is stored, applied, written out."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        for name, what in _OF_FILES.items():
            files = actions.add_parser(name, help=what, description=what)
            files.add_argument("files", nargs="+", metavar="FILE", help="YAML or JSON; - reads standard input")
        what = "write out the stored documents as YAML that apply takes"
        export = actions.add_parser("export", help=what, description=what)
        export.add_argument("names", nargs="*", metavar="KIND/NAME", help="memorypolicy/NAME or workspace/NAME; all")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        match action:
            case "validate":
                self._validate(options["files"])
            case "diff":
                self._diff(options["files"])
            case "apply":
                self._apply(options["files"])
            case "export":
                self._export(options["names"])

    def _validate(self, files: Sequence[str]) -> None:
        steps = list(plan(read_entries(files), stored={}, now=timezone.now()))
        wrong = [step for step in steps if _faults(step)]
        for step in steps:
            if step not in wrong:
                self.stdout.write(f"{step.entry.label} valid")
                self._warn(step)
        if wrong:
            lines = [line for step in wrong for line in _lines(step.entry.place, _faults(step))]
            raise CommandError("\n".join((*lines, f"{len(wrong)} of {len(steps)} documents are not valid.")))

    def _diff(self, files: Sequence[str]) -> None:
        steps = list(plan(read_entries(files), stored=stored_specs(), now=timezone.now()))
        if lines := [line for step in steps for line in _lines(step.entry.place, step.problems)]:
            raise CommandError("\n".join(lines), returncode=REFUSED)
        for step in steps:
            self._warn(step)
            self.stdout.writelines(_difference(step))
        if any(step.before != step.after for step in steps):
            sys.exit(DIFFERENT)

    def _apply(self, files: Sequence[str]) -> None:
        if cluster() is not None:
            raise CommandError("The cluster holds the policies and workspaces: kubectl apply -f FILE.")
        try:
            applied = apply_documents(read_entries(files), actor=ACTOR, now=timezone.now())
        except NothingApplied as error:
            lines = [line for each in error.refused for line in _lines(each.place, each.problems)]
            raise CommandError("\n".join((*lines, error.detail))) from None
        for each in applied:
            self.stdout.write(f"{each.label} {each.outcome}")
            for warning in each.warnings:
                self.stderr.write(f"{each.label} {warning}")

    def _export(self, names: Sequence[str]) -> None:
        try:
            documents = export_documents(names)
        except NotFound as error:
            raise CommandError(error.detail) from None
        self.stdout.write("---\n".join(map(dump_document, documents)), ending="")

    def _warn(self, step: Step) -> None:
        for warning in warnings(step.status.conditions if step.status else ()):
            self.stderr.write(f"{step.entry.label} {warning}")


def _faults(step: Step) -> tuple[FieldProblem, ...]:
    """What keeps a document from being in force: it is refused, or it would be in phase Error."""
    return step.problems or (step.status.problems if step.status else ())


def _lines(place: str, problems: Iterable[FieldProblem]) -> Iterator[str]:
    yield from (f"{place}: {each.pointer or '/'}: {each.detail}" for each in problems)


def _difference(step: Step) -> Iterator[str]:
    """The step as a unified diff of the documents, as `export` writes them; nothing when nothing changes."""
    before, after = _text(step, step.before), _text(step, step.after)
    return unified_diff(before, after, f"{step.entry.label} (stored)", step.entry.place)


def _text(step: Step, spec: Mapping[str, Any] | None) -> list[str]:
    if spec is None or step.entry.kind is None:
        return []
    document = Crd.load(KINDS[step.entry.kind]).document(name_in(step.entry.document), spec)
    return dump_document(document).splitlines(keepends=True)
