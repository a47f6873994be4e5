"""`manage.py revoke_token ID`: withdraws an access token for good (design: Tokens)."""

from __future__ import annotations

import argparse
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from omnia.api.tokens import revoke_token
from omnia.core.actor import Actor
from omnia.core.errors import OmniaError

_ACTOR = Actor(name="system:revoke_token")


class Command(BaseCommand):
    help = "Withdraws an access token; its next use is refused."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", type=UUID, help="the id that create_token printed; it is no secret")

    def handle(self, **options: Any) -> None:
        try:
            revoke_token(options["id"], actor=_ACTOR, now=timezone.now())
        except OmniaError as error:
            raise CommandError(error.detail) from None
        self.stdout.write(f"Token {options['id']} is revoked.")
