"""`manage.py export_suppressions`: whom not to bring back, as keyed hashes, one JSON object a line (reference: erasure)."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from memories.services.suppression import listed


class Command(BaseCommand):
    help = "Prints the suppression list. Keep it apart from the backups, and replay it after restoring one."

    def handle(self, **options: Any) -> None:
        for each in listed():
            self.stdout.write(each.as_line().decode(), ending="")
