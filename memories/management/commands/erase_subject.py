"""`manage.py erase_subject USER`: everything held on a person goes (reference: erasure)."""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from memories.services.erasure import Certificate, carry_out, certificate, request_erasure
from omnia.api.principal import Principal, Role
from omnia.core.actor import Actor
from omnia.core.errors import OmniaError
from policies.services.access import open_workspace

_OPERATOR = Principal(
    name="system:erase_subject",
    caller="system:erase_subject",
    role=Role.PLATFORM_ADMIN,
    workspaces=None,
    platform_admin=True,
)
_LOOKS_EVERY_SECONDS = 0.5


class Command(BaseCommand):
    help = "Erases a person and prints the certificate. Interrupted, the worker goes on; run again, it joins in."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="the person's id, as memories are saved under")
        parser.add_argument("--workspace", help="only in this Workspace, by its uid or name; default: everywhere")

    def handle(self, **options: Any) -> None:
        try:
            erasure = request_erasure(options["user"], workspace=_workspace(options), actor=Actor(_OPERATOR.name))
        except OmniaError as error:
            raise CommandError(error.detail) from None
        shown = self._carried_out(erasure)
        self.stdout.write(orjson.dumps(shown.as_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z).decode())
        if not any(shown.removed.values()):
            raise CommandError("Nothing matched: check the id, which is compared exactly.")

    def _carried_out(self, erasure: UUID) -> Certificate:
        """The certificate once it is complete; the removed memories are told as they go."""
        told = -1
        while (shown := certificate(erasure)).status != "completed":
            carry_out(erasure)
            removed = certificate(erasure).removed.get("memories", 0)
            if removed != told:
                self.stderr.write(f"{removed} memories removed; waiting for requests that are still writing ...")
            told = removed
            if certificate(erasure).status != "completed":
                time.sleep(_LOOKS_EVERY_SECONDS)
        return shown


def _workspace(options: dict[str, Any]) -> UUID | None:
    name = options["workspace"]
    return open_workspace(_OPERATOR, name, at_least=Role.OWNER).uid if name else None
