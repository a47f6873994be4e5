"""`manage.py create_token`: an access token, printed once (design: Tokens)."""

from __future__ import annotations

import argparse
import json
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from omnia.api.principal import Principal, Role
from omnia.api.tokens import DREAMING, Issued, NewToken, create_token
from omnia.core.actor import Actor
from omnia.core.duration import parse_duration
from omnia.core.errors import OmniaError
from policies.services.access import open_workspace

_OPERATOR = Principal(
    name="system:create_token",
    caller="system:create_token",
    role=Role.PLATFORM_ADMIN,
    workspaces=None,
    platform_admin=True,
)


class Command(BaseCommand):
    help = "Makes an access token and prints it once."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--name", required=True, help="what it is for; shown in the audit trail")
        parser.add_argument("--role", required=True, choices=[role.label for role in reversed(Role)])
        parser.add_argument(
            "--workspace", action="append", default=[], help="a Workspace's uid or name, may be repeated; '*' for all"
        )
        parser.add_argument("--user", help="bind it to this end user: it acts as nobody else")
        parser.add_argument(
            "--scope", action="append", default=[], choices=[DREAMING], help="what it may do beyond its role"
        )
        parser.add_argument("--expires", help="lifetime, from 5s to 3650d; without it the token does not expire")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, **options: Any) -> None:
        try:
            issued = create_token(_wish(options), actor=Actor(_OPERATOR.name), now=timezone.now())
        except OmniaError as error:
            raise CommandError(error.detail) from None
        self.stdout.write(json.dumps(_facts(issued)) if options["json"] else _told(issued))


def _wish(options: dict[str, Any]) -> NewToken:
    role = Role.of(options["role"])
    return NewToken(
        name=options["name"],
        role=role,
        workspaces=_workspaces(options["workspace"], role),
        subject=options["user"],
        scopes=frozenset(options["scope"]),
        lifetime=_lifetime(options["expires"]),
    )


def _workspaces(references: list[str], role: Role) -> frozenset[UUID] | None:
    """None stands for all: for `*`, and for a platform admin, who needs to name none."""
    if "*" in references or (role is Role.PLATFORM_ADMIN and not references):
        return None
    return frozenset(open_workspace(_OPERATOR, each, at_least=Role.VIEWER).uid for each in references)


def _lifetime(text: str | None) -> timedelta | None:
    if text is None:
        return None
    try:
        lifetime = parse_duration(text)
    except ValueError as error:
        raise CommandError(f"--expires {text}: {error}") from None
    if lifetime is None:
        raise CommandError("--expires is empty; write a span such as 90d, or leave it out")
    return lifetime


def _facts(issued: Issued) -> dict[str, Any]:
    token = issued.token
    return {
        "id": str(token.id),
        "token": issued.secret,
        "name": token.name,
        "role": token.role,
        "workspaces": ["*"] if token.all_workspaces else [str(each) for each in token.workspaces],
        "user": token.subject,
        "scopes": token.scopes,
        "expires_at": token.expires_at.isoformat().replace("+00:00", "Z") if token.expires_at else None,
    }


def _told(issued: Issued) -> str:
    ends = issued.token.expires_at
    until = f"expires {ends:%Y-%m-%d %H:%M} UTC" if ends else "does not expire"
    return f"{issued.secret}\nShown only now. Token {issued.token.id} {until}; manage.py revoke_token ends it."
