"""The memory routes: translate, call one service, translate back (design: Memories)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from memories.api import docs
from memories.api.commands import NARROWING, filters, invalid, save_command
from memories.api.many_messages import RestoreMessage
from memories.api.messages import EditMessage, SaveMessage
from memories.api.scope import (
    SCOPE_PARAMETERS,
    admit_person,
    admit_reader,
    admit_user,
    admit_writer,
    require_scope_alone,
)
from memories.domain.query_text import LONGEST_QUERY
from memories.domain.reach import DEEPEST_OFFSET, DEFAULT_PAGE, LARGEST_PAGE
from memories.services.browse import list_memories, search_memories
from memories.services.edit import edit
from memories.services.forget import forget, forget_everything
from memories.services.history import history
from memories.services.open import open_memory
from memories.services.remember import remember
from memories.services.restore import restore
from omnia.api.message import read
from omnia.api.principal import Role
from omnia.api.responses import json_response
from omnia.api.views import ApiView


class MemoriesView(ApiView):
    """The memories of a scope: list them, save one, forget them all."""

    @docs.list_memories
    def get(self, request: Request) -> HttpResponse:
        admitted, query = admit_reader(self), self.query
        query.only(*SCOPE_PARAMETERS, *NARROWING, "limit", "offset", "cursor")
        page = list_memories(
            admitted.reach(include_shared=query.flag("include_shared")),
            filters=filters(query),
            limit=query.integer("limit", default=DEFAULT_PAGE, low=1, high=LARGEST_PAGE),
            cursor=query.text("cursor"),
            offset=query.integer("offset", default=0, low=0, high=DEEPEST_OFFSET),
            now=self.now,
        )
        return json_response(page.as_json())

    @docs.save
    def post(self, request: Request) -> HttpResponse:
        message = read(SaveMessage, self.body)
        admitted = admit_user(self)
        self.answers_for(admitted.scope)
        command = save_command(message, scope=admitted.scope)
        result = remember(command, policy=admitted.policy, now=self.now, actor=self.actor)
        return json_response(result.as_json(), status=201)

    @docs.forget_everything
    def delete(self, request: Request) -> HttpResponse:
        require_scope_alone(self)
        admitted = admit_person(self, at_least=Role.OWNER)
        return json_response({"deleted": forget_everything(admitted.scope, actor=self.actor)})


class SearchView(ApiView):
    """The memories of a scope that answer a question."""

    @docs.search
    def get(self, request: Request) -> HttpResponse:
        admitted, query = admit_reader(self), self.query
        query.only(*SCOPE_PARAMETERS, *NARROWING, "limit", "offset", "preview", "q")
        text = query.text("q", max_length=LONGEST_QUERY)
        if text is None:
            raise invalid("q", "required", "the words to search for are expected")
        page = search_memories(
            admitted.reach(include_shared=query.flag("include_shared")),
            query=text,
            filters=filters(query),
            limit=query.integer("limit", default=DEFAULT_PAGE, low=1, high=LARGEST_PAGE),
            offset=query.integer("offset", default=0, low=0, high=DEEPEST_OFFSET),
            preview=query.flag("preview"),
            policy=admitted.policy,
            now=self.now,
        )
        return json_response(page.as_json())


class MemoryView(ApiView):
    """One memory."""

    @docs.open_memory
    def get(self, request: Request, memory: UUID) -> HttpResponse:
        reach = admit_reader(self).reach()
        opened = open_memory(memory, scope=reach.scope, any_agent=reach.any_agent, now=self.now, actor=self.actor)
        return json_response(opened)

    @docs.edit
    def patch(self, request: Request, memory: UUID) -> HttpResponse:
        message = read(EditMessage, self.body)
        admitted = admit_writer(self)
        self.answers_for(admitted.scope)
        changes: dict[str, Any] = {name: getattr(message, name) for name in message.model_fields_set}
        result = edit(memory, changes, scope=admitted.scope, policy=admitted.policy, now=self.now, actor=self.actor)
        return json_response(result.as_json())

    @docs.forget
    def delete(self, request: Request, memory: UUID) -> HttpResponse:
        forget(memory, scope=admit_writer(self).scope, now=self.now, actor=self.actor)
        return json_response({"status": "forgotten", "memory_id": memory})


class RestoreView(ApiView):
    """A memory taken out of the trash."""

    body_optional = True

    @docs.restore
    def post(self, request: Request, memory: UUID) -> HttpResponse:
        read(RestoreMessage, self.body)
        admitted = admit_writer(self)
        self.answers_for(admitted.scope)
        result = restore(memory, scope=admitted.scope, policy=admitted.policy, now=self.now, actor=self.actor)
        return json_response(result.as_json())


class HistoryView(ApiView):
    """What a memory said before."""

    @docs.history
    def get(self, request: Request, memory: UUID) -> HttpResponse:
        reach = admit_reader(self).reach()
        wordings = history(memory, scope=reach.scope, any_agent=reach.any_agent, now=self.now)
        return json_response({"wordings": wordings})


class SchemaView(ApiView):
    """The vocabulary in force (spec: schema)."""

    @docs.schema
    def get(self, request: Request) -> HttpResponse:
        return json_response(admit_reader(self).policy.vocabulary.as_json())
