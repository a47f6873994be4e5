"""`manage.py purge`: what maintenance would delete, deleted now (reference: Forget)."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from memories.services.purge import purge
from omnia.core.actor import Actor
from omnia.core.duration import format_duration, parse_duration

_ACTOR = Actor("system:purge")


class Command(BaseCommand):
    help = "Deletes for good what has expired and what was forgotten long enough ago, without waiting for maintenance."

    def add_arguments(self, parser: CommandParser) -> None:
        kept = settings.OMNIA.trash_retention
        parser.add_argument(
            "--forgotten-before",
            type=_period,
            default=kept,
            metavar="PERIOD",
            help=f"how long ago, such as 12h; 0s empties the trash; default {format_duration(kept)}",
        )

    def handle(self, **options: Any) -> None:
        done = purge(now=timezone.now(), trash_retention=options["forgotten_before"], actor=_ACTOR)
        self.stdout.write(f"Deleted {done.expired} expired and {done.purged} forgotten memories.")


def _period(text: str) -> timedelta:
    try:
        span = parse_duration(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    if span is None:
        raise ArgumentTypeError("a period such as 12h is expected")
    return span
