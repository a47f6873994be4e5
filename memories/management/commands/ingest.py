"""`manage.py ingest PATH...`: files and folders into a workspace's documents (spec: ingestion)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from memories.management.files import KNOWN, File, Unreadable, find, read_document
from memories.management.progress import Progress, shown
from memories.services.ingest import Ingested, ingest_document
from omnia.api.principal import Principal, Role
from omnia.core.actor import Actor
from omnia.core.errors import OmniaError
from omnia.licensing.edition import require_enterprise
from policies.services.access import open_workspace
from policies.services.resolve import policy_for

_OPERATOR = Principal(
    name="system:ingest",
    caller="system:ingest",
    role=Role.PLATFORM_ADMIN,
    workspaces=None,
    platform_admin=True,
)


@dataclass(frozen=True, slots=True)
class _Destination:
    """Where the documents go."""

    workspace: UUID
    service_group: str
    site: str | None

    def take_in(self, file: File) -> Ingested:
        """Raises Unreadable, or OmniaError naming the rule the document breaks."""
        return ingest_document(
            read_document(file, site=self.site),
            workspace=self.workspace,
            policy=policy_for(self.workspace, service_group=self.service_group),
            now=timezone.now(),
            actor=Actor(_OPERATOR.name),
        )


class Command(BaseCommand):
    help = "Takes Markdown, text and HTML files into a workspace. A file that was taken in before is replaced."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file, or a folder to look through")
        parser.add_argument("--workspace", required=True, help="the Workspace's uid or name")
        parser.add_argument("--site", help="where the documents are from, kept with each of them")
        parser.add_argument(
            "--service-group", default=settings.OMNIA.service_group, help="whose policy applies; default %(default)s"
        )

    def handle(self, **options: Any) -> None:
        try:
            require_enterprise()
            workspace = open_workspace(_OPERATOR, options["workspace"], at_least=Role.OWNER)
        except OmniaError as error:
            raise CommandError(error.detail) from None
        files, others = find(options["paths"])
        if not files:
            raise CommandError(f"There is no file of a known kind: {', '.join(sorted(KNOWN))}.")
        destination = _Destination(workspace.uid, options["service_group"], options["site"])
        done = list(self._ingested(files, destination))
        self.stdout.write(_summary(done, others=others))
        if failed := len(files) - len(done):
            raise CommandError(f"Not taken in: {failed} of {_counted(len(files), 'file')}.")

    def _ingested(self, files: Sequence[File], destination: _Destination) -> Iterator[Ingested]:
        """Takes in one file after the other; one that fails is named and left behind."""
        progress, names = Progress(self.stdout, total=sum(file.size for file in files)), set[str]()
        for file in files:
            progress.begin(file.name)
            try:
                if file.name in names:
                    raise Unreadable("another file of this run goes by the same name")
                ingested = destination.take_in(file)
            except (Unreadable, OmniaError) as error:
                progress.interrupt()
                self.stderr.write(shown(f"skipped {file.path}: {error}"))
                progress.advance(file.size)
            else:
                names.add(file.name)
                progress.advance(file.size, line=f"{ingested.outcome} {file.name}: {_counted(ingested.items, 'item')}")
                yield ingested
        progress.interrupt()


def _summary(done: Sequence[Ingested], *, others: int) -> str:
    items = sum(each.items for each in done)
    left_out = f" Left out: {_counted(others, 'file')} of other kinds." if others else ""
    return f"{_counted(len(done), 'document')} with {_counted(items, 'item')}.{left_out}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
