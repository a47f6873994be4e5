"""The relation routes: translate, call one service, translate back (design: Memories).

A relation is seen and changed where a recall of the scope would show both its ends.
"""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from memories.api import docs
from memories.api.messages import RelationMessage
from memories.api.scope import Admitted, admit_person, shared_refusal
from memories.domain.reach import DEEPEST_OFFSET, DEFAULT_PAGE, LARGEST_PAGE
from memories.domain.relation import Relation
from memories.services.open import not_found
from memories.services.relate import RelationWriter, relate, relations_of, unrelate
from omnia.api.message import read
from omnia.api.principal import Role
from omnia.api.query import refuse
from omnia.api.responses import json_response
from omnia.api.views import ApiView


class RelationsView(ApiView):
    """The relations of a memory: list them, make one."""

    @docs.list_relations
    def get(self, request: Request) -> HttpResponse:
        admitted, query = admit_person(self, at_least=Role.VIEWER), self.query
        memory = query.text("memory_id")
        if memory is None:
            raise refuse("memory_id", "name the memory whose relations to list")
        page = relations_of(
            _memory(memory),
            scope=admitted.scope,
            limit=query.integer("limit", default=DEFAULT_PAGE, low=1, high=LARGEST_PAGE),
            cursor=query.text("cursor", max_length=1024),
            offset=query.integer("offset", default=0, low=0, high=DEEPEST_OFFSET),
            policy=admitted.policy,
            now=self.now,
        )
        return json_response(page.as_json())

    @docs.relate
    def post(self, request: Request) -> HttpResponse:
        message = read(RelationMessage, self.body)
        admitted = admit_person(self, at_least=Role.EDITOR)
        self.answers_for(admitted.scope)
        relation = Relation(
            source=_memory(message.source_id),
            target=_memory(message.target_id),
            relation_type=message.relation_type,
            weight=message.weight,
            metadata=message.metadata,
        )
        edge = relate(relation, writer=_writer(self, admitted), policy=admitted.policy, now=self.now)
        return json_response({"id": edge}, status=201)


class RelationView(ApiView):
    """One relation."""

    @docs.unrelate
    def delete(self, request: Request, relation: UUID) -> HttpResponse:
        admitted = admit_person(self, at_least=Role.EDITOR)
        unrelate(relation, writer=_writer(self, admitted), policy=admitted.policy, now=self.now)
        return json_response({"status": "deleted", "id": relation})


def _writer(view: ApiView, admitted: Admitted) -> RelationWriter:
    return RelationWriter(admitted.scope, actor=view.actor, shared_refusal=shared_refusal(view, admitted))


def _memory(text: str) -> UUID:
    """The id, or the answer for a memory that is not there: what is no id of ours names none."""
    try:
        return UUID(text)
    except ValueError:
        raise not_found() from None
