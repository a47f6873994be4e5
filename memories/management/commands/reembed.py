"""`manage.py reembed`: vectors of another model for every memory, with the progress shown (design: embedding-model)."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memories.management.progress import Progress
from memories.services import embedding_change as change
from memories.services.embed import embed_pending
from memories.services.reembed import carry_on, catch_up
from omnia.core.actor import Actor
from omnia.core.errors import OmniaError

_ACTOR = Actor("system:reembed")
_LOOKS_EVERY_SECONDS = 1.0
_GLANCE = timedelta(seconds=2)


class Command(BaseCommand):
    help = (
        "Changes to the embedding model the environment names, or to the one of --model and --dimensions, with no gap in"
        " recall. Where that model is in use: gives a vector to what has none, refused texts among them. Interrupted, the"
        " worker goes on."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--model", help="another model of the provider, or one that was in use before")
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
            change.cancel_change(actor=_ACTOR)
            self.stdout.write("Cancelled; the old model stays in use.")
        elif options["model"] and options["dimensions"] is not None:
            change.request_change(options["model"], options["dimensions"], actor=_ACTOR)
            self._follow()
        elif options["model"] or options["dimensions"] is not None:
            raise CommandError("--model and --dimensions go together.")
        elif change.request_named(actor=_ACTOR):
            self._follow()
        else:
            self._catch_up()

    def _follow(self) -> None:
        """Works at the change beside the worker until it is through, or ended by somebody else."""
        shown, bar = 0, None
        while not carry_on(budget=_GLANCE) and (found := change.progress()) and found.turn.status == "running":
            covered = found.covered
            bar = bar or Progress(self.stdout, total=covered.memories)
            if covered.embedded > shown:
                told = f"{covered.embedded} of {covered.memories} memories embedded"
                bar.advance(covered.embedded - shown, line=told if covered.backlog else "")
                shown = covered.embedded
            bar.begin("" if covered.backlog else "until every process knows of it")
            time.sleep(_LOOKS_EVERY_SECONDS)
        if bar:
            bar.interrupt()
        self._show()

    def _catch_up(self) -> None:
        queued, done = catch_up(), 0
        self.stdout.write(f"The model is in use; {queued} memories to embed")
        bar = Progress(self.stdout, total=queued)
        while (swept := embed_pending(budget=_GLANCE)).embedded:
            done += swept.embedded
            bar.advance(swept.embedded, line=f"{done} of {queued} memories embedded")
            bar.begin("")
        bar.interrupt()
        self.stdout.write("Done.")

    def _show(self) -> None:
        found = change.progress()
        if found is None:
            self.stdout.write("No vector was made yet; the environment names the model.")
            return
        covered, model = found.covered, f"{found.turn.name} ({found.turn.config.dimensions} dimensions)"
        told = f"{covered.embedded} of {covered.memories} memories embedded, {covered.given_up} given up"
        if found.turn.status == "running":
            self.stdout.write(f"Changing to {model}: {told}. {found.used.name} is in use meanwhile.")
        else:
            self.stdout.write(f"{model} is in use: {told}.")
