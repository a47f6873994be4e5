"""`manage.py reembed`: vectors of another model for every memory, with the progress shown (design: embedding-model)."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memories.services.embed import embed_pending
from memories.services.reembed import cancel_change, carry_on, progress, request_change, requeue_others
from omnia.core.actor import Actor
from omnia.core.errors import OmniaError

_ACTOR = Actor("system:reembed")
_LOOKS_EVERY_SECONDS = 1.0


class Command(BaseCommand):
    help = (
        "With --model and --dimensions: changes to another model of the same provider, with no gap in recall. Without:"
        " embeds anew what has no vector of the model the environment names. Interrupted, the worker goes on."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--model", help="the new model, as the provider names it")
        parser.add_argument("--dimensions", type=int, help="how long its vectors are, 1 to 2000")
        parser.add_argument("--status", action="store_true", help="only show how far a change is")
        parser.add_argument("--cancel", action="store_true", help="give the running change up")

    def handle(self, **options: Any) -> None:
        try:
            self._do(options)
        except OmniaError as error:
            raise CommandError(error.detail) from None

    def _do(self, options: dict[str, Any]) -> None:
        if options["status"]:
            self._show()
        elif options["cancel"]:
            cancel_change(actor=_ACTOR)
            self.stdout.write("Cancelled; the old model stays in use.")
        elif options["model"] and options["dimensions"] is not None:
            request_change(options["model"], options["dimensions"], actor=_ACTOR)
            self._follow()
        elif options["model"] or options["dimensions"] is not None:
            raise CommandError("--model and --dimensions go together.")
        else:
            self._catch_up()

    def _follow(self) -> None:
        while not carry_on():
            found = progress()
            if found is None or found.status != "running":
                break
            self.stdout.write(f"{found.done} of {found.total} memories embedded")
            time.sleep(_LOOKS_EVERY_SECONDS)
        self._show()

    def _catch_up(self) -> None:
        self.stdout.write(f"{requeue_others()} memories to embed")
        while (swept := embed_pending()).embedded:
            self.stdout.write(f"{swept.embedded} embedded")
        self.stdout.write("Done.")

    def _show(self) -> None:
        found = progress()
        if found is None:
            self.stdout.write("The model was never changed; the environment names the one in use.")
        elif found.status == "running":
            self.stdout.write(f"{found.model} ({found.dimensions}): {found.done} of {found.total} memories embedded")
        else:
            self.stdout.write(
                f"{found.model} ({found.dimensions}) is in use. Name it in OMNIA_EMBEDDING_MODEL and _DIMENSIONS."
            )
