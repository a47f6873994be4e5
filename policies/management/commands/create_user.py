"""`manage.py create_user NAME`: an account for the dashboard, its password printed once (design: Auth)."""

from __future__ import annotations

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from omnia.core.actor import Actor
from omnia.core.errors import OmniaError
from policies.services.accounts import create_account

_ACTOR = Actor(name="system:create_user")


class Command(BaseCommand):
    help = "Makes an account for the dashboard and prints its password once. Roles come from the Workspace documents."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", help="what the person signs in with, and what `directGrants` of a Workspace name")
        parser.add_argument("--platform-admin", action="store_true", help="sees every workspace, edits every policy")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, **options: Any) -> None:
        try:
            made = create_account(options["name"], platform_admin=options["platform_admin"], actor=_ACTOR)
        except OmniaError as error:
            raise CommandError(error.detail) from None
        name, password = made.user.username, made.password
        if options["json"]:
            facts = {"username": name, "password": password, "platform_admin": options["platform_admin"]}
            self.stdout.write(json.dumps(facts))
        else:
            self.stdout.write(f"{password}\nShown only now. Another one: manage.py changepassword {name}")
