"""`manage.py apply_policy FILE`: creates or replaces the policies and workspaces of a file, all or nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from omnia.core.actor import Actor
from omnia.core.errors import BadInput
from policies.domain.manifest import load_documents
from policies.kube.current import cluster
from policies.services.apply import NothingApplied, apply_documents

_ACTOR = Actor(name="system:apply_policy")


class Command(BaseCommand):
    help = "Creates or replaces the MemoryPolicy and Workspace documents of a YAML or JSON file, all or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="the file, with documents separated by ---; - reads standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        if cluster() is not None:
            raise CommandError("The cluster holds the policies and workspaces: kubectl apply -f FILE.")
        try:
            documents = load_documents(_read(options["file"]))
            if not documents:
                raise CommandError("The file holds no document.")
            applied = apply_documents(documents, actor=_ACTOR, now=timezone.now())
        except BadInput as error:
            raise CommandError(error.detail) from None
        except NothingApplied as error:
            raise CommandError(_refusal(error)) from None
        for each in applied:
            self.stdout.write(f"{each.label} {each.outcome}")
            if each.warning:
                self.stderr.write(f"{each.label} {each.warning}")


def _read(name: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise CommandError(f"{name} is not UTF-8 text.") from None


def _refusal(error: NothingApplied) -> str:
    lines = [
        f"{refused.label}: {problem.pointer or '/'}: {problem.detail}"
        for refused in error.refused
        for problem in refused.problems
    ]
    return "\n".join((*lines, error.detail))
