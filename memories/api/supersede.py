"""POST /memories/supersede: one text in the place of several memories."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from memories.api import docs
from memories.api.many_messages import SupersedeMessage
from memories.api.scope import admit_user
from memories.domain.save import SupersedeCommand
from memories.services.supersede import not_in_scope, supersede
from omnia.api.message import read
from omnia.api.responses import json_response
from omnia.api.views import ApiView


class SupersedeView(ApiView):
    """Several memories of a user give way to one text."""

    @docs.supersede
    def post(self, request: Request) -> HttpResponse:
        message = read(SupersedeMessage, self.body)
        admitted = admit_user(self)
        self.answers_for(admitted.scope)
        command = SupersedeCommand(
            scope=admitted.scope,
            source_ids=tuple(dict.fromkeys(_id(text) for text in message.source_ids)),
            content=message.content,
            type=message.type,
            confidence=message.confidence,
        )
        result = supersede(command, policy=admitted.policy, now=self.now, actor=self.actor)
        return json_response(result.as_json())


def _id(text: str) -> UUID:
    """An id of ours; another text is the id of nothing."""
    try:
        return UUID(text)
    except ValueError:
        raise not_in_scope() from None
