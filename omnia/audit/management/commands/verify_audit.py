"""`manage.py verify_audit`: shows that nothing in the audit trail was changed or taken out (reference: Audit)."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from omnia.audit.chain import seal_all, verify

_SHOWN = 20


class Command(BaseCommand):
    help = "Verifies the chain over the audit trail and prints its head. Keep the head elsewhere and pass it next time."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--expect", metavar="HEAD", default="", help="a head printed before, which must be in it")
        parser.add_argument("--seal", action="store_true", help="seal what is not yet, first")

    def handle(self, **options: Any) -> None:
        if options["seal"]:
            self.stdout.write(f"{seal_all()} rows sealed now.")
        verdict = verify(expected_head=options["expect"])
        self.stdout.write(f"{verdict.sealed} rows sealed, {verdict.unsealed} not yet. Head: {verdict.head}")
        if verdict.faults:
            shown = "\n".join(f"  {fault}" for fault in verdict.faults[:_SHOWN])
            raise CommandError(f"{len(verdict.faults)} faults:\n{shown}")
        self.stdout.write("The chain is whole.")
