"""The recall route: translate, call one service, translate back (design: Recall)."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from memories.api import docs
from memories.api.recall_messages import RecallMessage, SemanticMessage, recall_request
from memories.api.scope import admit_person
from memories.services.recall import recall
from memories.services.semantic import SemanticRequest, retrieve_semantic
from omnia.api.message import read
from omnia.api.principal import Role
from omnia.api.responses import json_response
from omnia.api.views import ApiView


class RetrieveView(ApiView):
    """Recall: the memories that answer a question, from every tier the scope joins."""

    reads_only = True

    @docs.recall
    def post(self, request: Request) -> HttpResponse:
        message = read(RecallMessage, self.body)
        admitted = admit_person(self, at_least=Role.VIEWER)
        self.answers_for(admitted.scope)
        question = recall_request(message, scope=admitted.scope, now=self.now)
        return json_response(recall(question, policy=admitted.policy, now=self.now).as_json())


class SemanticView(ApiView):
    """The search over every tier the scope joins, with a filter of the caller's own."""

    reads_only = True

    @docs.semantic
    def post(self, request: Request) -> HttpResponse:
        message = read(SemanticMessage, self.body)
        admitted = admit_person(self, at_least=Role.VIEWER)
        self.answers_for(admitted.scope)
        question = SemanticRequest(admitted.scope, message.query, message.deny_cel, message.limit)
        return json_response(retrieve_semantic(question, policy=admitted.policy, now=self.now).as_json())
