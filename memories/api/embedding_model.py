"""The change to another embedding model, for platform admins (design: //admin/embedding-model)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import BaseModel, Field
from rest_framework.request import Request

from memories.services.embedding_change import cancel_change, progress, request_change
from omnia.api.message import Message, read
from omnia.api.permissions import IsPlatformAdmin
from omnia.api.responses import json_response
from omnia.api.views import ApiView


class ModelMessage(Message):
    model: str
    dimensions: int


class ModelAnswer(BaseModel):
    provider: str
    model: str
    dimensions: int


class ChangeAnswer(ModelAnswer):
    """The running change, or else the model in use."""

    id: UUID
    status: str = Field(description="`running` or `completed`; `none` while no vector was ever made.")
    requested_at: datetime
    ended_at: datetime | None
    in_use: ModelAnswer
    memories: int = Field(description="Those that have not expired.")
    embedded: int = Field(description="Of them those with a vector of this model.")
    given_up: int = Field(description="Of them those whose text the model refused for good; `reembed` tries again.")
    coverage: float


class EmbeddingModelView(ApiView):
    """Order, watch and cancel the change."""

    permission_classes = [IsPlatformAdmin]

    @extend_schema(
        summary="Show the embedding model in use and how far a change is",
        operation_id="showEmbeddingChange",
        responses=ChangeAnswer,
    )
    def get(self, request: Request) -> HttpResponse:
        return self._shown()

    @extend_schema(
        summary="Change to another embedding model",
        description=(
            "To a model of the provider the environment names, or back to one that was in use. Re-embeds in the"
            " background; recall keeps to the old vectors until every memory has its new one, and then all switch at once."
        ),
        operation_id="changeEmbeddingModel",
        request=ModelMessage,
        responses={202: ChangeAnswer},
    )
    def post(self, request: Request) -> HttpResponse:
        message = read(ModelMessage, self.body)
        request_change(message.model, message.dimensions, actor=self.actor)
        return self._shown(status=202)

    @extend_schema(
        summary="Cancel the running change", operation_id="cancelEmbeddingChange", responses={200: ChangeAnswer}
    )
    def delete(self, request: Request) -> HttpResponse:
        cancel_change(actor=self.actor)
        return self._shown()

    def _shown(self, *, status: int = 200) -> HttpResponse:
        found = progress()
        return json_response(found.as_json() if found else {"status": "none"}, status=status)
