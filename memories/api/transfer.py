"""/memories/export and /memories/import: everything held on a user out of the store, and memories into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from rest_framework.request import Request

from memories.api import docs
from memories.api.commands import invalid, save_command
from memories.api.many_messages import ImportedMemory, ImportMessage
from memories.api.scope import SCOPE_PARAMETERS, admit_person, admit_user
from memories.domain.kinds import DEFAULT_PROVENANCE, PROVENANCE_OF
from memories.domain.save import SaveCommand
from memories.services.exporting import export
from memories.services.importing import import_all
from omnia.api.message import read
from omnia.api.principal import Role
from omnia.api.responses import JSON, dumps, json_response
from omnia.api.views import ApiView
from omnia.core.errors import BadInput, OmniaError
from omnia.core.scope import Scope

_FILE = {"Content-Disposition": 'attachment; filename="memories-export.json"'}
_NO_LONGER_HELD = ("forgotten_at", "superseded_at", "invalidated_at", "expired")
"""How an export marks what is not live: an import would bring it back."""


class ExportView(ApiView):
    """Everything held on a user, as a file that comes while it is read."""

    @docs.export
    def get(self, request: Request) -> StreamingHttpResponse:
        admitted = admit_person(self, at_least=Role.OWNER)
        self.query.only(*SCOPE_PARAMETERS)
        memories = export(admitted.reach().scope, now=self.now, actor=self.actor)
        return StreamingHttpResponse(_file(memories, at=self.now), content_type=JSON, headers=_FILE)


class ImportView(ApiView):
    """Memories written down elsewhere, for the owner the request names."""

    @docs.import_
    def post(self, request: Request) -> HttpResponse:
        message = read(ImportMessage, self.body)
        given = [each for each in (message.items, message.memories) if each is not None]
        if len(given) != 1:
            raise invalid("items", "required", "send either items, or the memories of an export")
        admitted = admit_user(self)
        self.answers_for(admitted.scope)
        held = {index: item for index, item in enumerate(given[0]) if not _marked(item)}
        found = import_all(
            {index: _command(item, scope=admitted.scope) for index, item in held.items()},
            skipped=len(given[0]) - len(held),
            scope=admitted.scope,
            policy=admitted.policy,
            now=self.now,
            actor=self.actor,
        )
        return json_response(found.as_json())


def _file(memories: Iterator[dict[str, Any]], *, at: datetime) -> Iterator[bytes]:
    yield b'{"exported_at":' + dumps(at) + b',"memories":['
    for place, memory in enumerate(memories):
        yield (b",\n" if place else b"\n") + dumps(memory)
    yield b"\n]}\n"


def _marked(item: Any) -> bool:
    return isinstance(item, dict) and any(item.get(mark) for mark in _NO_LONGER_HELD)


def _command(item: Any, *, scope: Scope) -> SaveCommand | OmniaError:
    """The save an item comes to, or why it cannot be one."""
    try:
        if not isinstance(item, dict):
            raise BadInput("An item is a memory: an object.", code="invalid")
        message = read(ImportedMemory, item)
        command = save_command(message, scope=scope)
    except OmniaError as refusal:
        return refusal
    claimed = message.provenance or PROVENANCE_OF.get(message.source_type or "", DEFAULT_PROVENANCE)
    return replace(command, provenance=claimed, category=command.category or message.consent_category, share=False)
