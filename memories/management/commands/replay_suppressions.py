"""`manage.py replay_suppressions FILE`: erases again who a restored backup brought back (reference: erasure)."""

from __future__ import annotations

from argparse import FileType
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memories.services.erasure import replay
from memories.services.suppression import Suppression, UnreadableList
from omnia.core.actor import Actor


class Command(BaseCommand):
    help = (
        "Reads a suppression list (- for standard input) and erases everybody on it, up to when they were erased. Run it"
        " after restoring a backup, before the servers start. Run twice, it finds nothing more."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=FileType("rb"), help="what export_suppressions printed")

    def handle(self, **options: Any) -> None:
        suppressions = []
        for number, line in enumerate(options["file"], 1):
            try:
                suppressions += [Suppression.from_line(line)] if line.strip() else []
            except UnreadableList:
                raise CommandError(f"Line {number} is not one of a suppression list; nothing was erased.") from None
        erased = replay(suppressions, actor=Actor("system:replay_suppressions"))
        self.stdout.write(f"{len(suppressions)} entries read, {erased} persons erased again.")
