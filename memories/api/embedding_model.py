"""The change to another embedding model, for platform admins (design: //admin/embedding-model)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import BaseModel, Field
from rest_framework.request import Request

from memories.services.reembed import Progress, cancel_change, progress, request_change
from omnia.api.message import Message, read
from omnia.api.permissions import IsPlatformAdmin
from omnia.api.responses import json_response
from omnia.api.views import ApiView


class ModelMessage(Message):
    model: str
    dimensions: int


class ChangeAnswer(BaseModel):
    id: UUID
    model: str
    dimensions: int
    status: str = Field(description="running or completed")
    requested_at: datetime
    ended_at: datetime | None
    memories: int
    embedded: int
    coverage: float


class NoChangeAnswer(BaseModel):
    status: str = Field(description="none")


class EmbeddingModelView(ApiView):
    """Order, watch and cancel the change."""

    permission_classes = [IsPlatformAdmin]

    @extend_schema(
        summary="Show how far the change of the embedding model is",
        operation_id="showEmbeddingChange",
        responses=ChangeAnswer,
    )
    def get(self, request: Request) -> HttpResponse:
        found = progress()
        return json_response(found.as_json() if found else {"status": "none"})

    @extend_schema(
        summary="Change to another embedding model of the same provider",
        description="Re-embeds in the background; recall keeps to the old vectors until every memory has its new one.",
        operation_id="changeEmbeddingModel",
        request=ModelMessage,
        responses={202: ChangeAnswer},
    )
    def post(self, request: Request) -> HttpResponse:
        message = read(ModelMessage, self.body)
        request_change(message.model, message.dimensions, actor=self.actor)
        found: Progress | None = progress()
        return json_response(found.as_json() if found else {}, status=202)

    @extend_schema(summary="Cancel the running change", operation_id="cancelEmbeddingChange", responses=NoChangeAnswer)
    def delete(self, request: Request) -> HttpResponse:
        cancel_change(actor=self.actor)
        return json_response({"status": "none"})
