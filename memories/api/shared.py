"""The shared tiers' own routes: what an agent knows, and what everybody may know (spec: Memory tiers).

What is saved here is curated by an operator, whatever the body says, and is nobody's own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar
from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from memories.api import docs
from memories.api.commands import filters, invalid, save_command
from memories.api.many_messages import SharedSaveMessage
from memories.api.scope import ANY_AGENT, SCOPE_PARAMETERS, Admitted, admit_shared
from memories.domain.reach import DEEPEST_OFFSET, DEFAULT_PAGE, LARGEST_PAGE, Reach
from memories.services.browse import list_memories
from memories.services.forget import forget_shared
from memories.services.open import open_memory
from memories.services.remember import remember
from omnia.api.message import read
from omnia.api.responses import json_response
from omnia.api.views import ApiView
from omnia.core.scope import Tier
from omnia.licensing.edition import require_enterprise

_NARROWING = ("type", "category", "purpose", "min_confidence")


class _Shared(ApiView):
    """A route of one shared tier."""

    tier: ClassVar[Tier]

    def admit(self, *, writes: bool) -> Admitted:
        """The scope in this route's tier; the institutional one is Enterprise."""
        if self.tier is Tier.INSTITUTIONAL:
            require_enterprise()
            return replace(admit_shared(self, writes=writes), agent=None)
        admitted = admit_shared(self, writes=writes)
        if admitted.agent is None or admitted.agent == ANY_AGENT:
            raise invalid("agent_id", "agent_required", "name the agent whose memories they are")
        return admitted


class _Memories(_Shared):
    """The memories of a shared tier: list them, save one."""

    def get(self, request: Request) -> HttpResponse:
        admitted, query = self.admit(writes=False), self.query
        query.only(*SCOPE_PARAMETERS, *_NARROWING, "limit", "offset", "cursor")
        page = list_memories(
            Reach(admitted.scope),
            filters=filters(query),
            limit=query.integer("limit", default=DEFAULT_PAGE, low=1, high=LARGEST_PAGE),
            cursor=query.text("cursor"),
            offset=query.integer("offset", default=0, low=0, high=DEEPEST_OFFSET),
            now=self.now,
        )
        return json_response(page.as_json())

    def post(self, request: Request) -> HttpResponse:
        admitted = self.admit(writes=True)
        message = read(SharedSaveMessage, self.body)
        self.answers_for(admitted.scope)
        command = replace(
            save_command(message, scope=admitted.scope),
            provenance="operator_curated",
            share=False,
            any_type=self.tier is Tier.INSTITUTIONAL,
        )
        result = remember(command, policy=admitted.policy, now=self.now, actor=self.actor)
        return json_response(result.as_json(), status=201)


class _Memory(_Shared):
    """One memory of a shared tier."""

    def get(self, request: Request, memory: UUID) -> HttpResponse:
        scope = self.admit(writes=False).scope
        return json_response(open_memory(memory, scope=scope, now=self.now, actor=self.actor))

    def delete(self, request: Request, memory: UUID) -> HttpResponse:
        forget_shared(memory, scope=self.admit(writes=True).scope, now=self.now, actor=self.actor)
        return json_response({"status": "forgotten", "memory_id": memory})


@docs.agent_memories
class AgentMemoriesView(_Memories):
    """What an agent knows, whoever it talks to."""

    tier = Tier.AGENT


@docs.agent_memory
class AgentMemoryView(_Memory):
    """One memory of an agent."""

    tier = Tier.AGENT


@docs.institutional_memories
class InstitutionalMemoriesView(_Memories):
    """What everybody in the workspace may know."""

    tier = Tier.INSTITUTIONAL


@docs.institutional_memory
class InstitutionalMemoryView(_Memory):
    """One institutional memory."""

    tier = Tier.INSTITUTIONAL
