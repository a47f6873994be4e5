"""GET /audit/memories: what happened to a workspace's memories, for its owners (reference: Audit)."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel
from rest_framework.request import Request

from memories.api import docs
from memories.api.scope import admit_person
from memories.services.audit_trail import read_trail, wanted_of
from omnia.api.principal import Role
from omnia.api.responses import json_response
from omnia.api.views import ApiView
from omnia.audit.trail import Wanted
from omnia.core.errors import Forbidden

_PAGE, _LARGEST = 50, 500


class AuditEntryAnswer(BaseModel):
    id: UUID
    at: datetime
    event: str
    workspace_id: UUID | None
    actor: str
    request_id: str
    metadata: dict[str, Any]
    subject_hash: str | None = None
    memory_id: UUID | None = None
    ip: str | None = None
    user_agent: str | None = None
    reason: str | None = None


class AuditAnswer(BaseModel):
    entries: list[AuditEntryAnswer]
    total: int
    next: str | None


def _query(name: str, description: str, kind: Any = str) -> OpenApiParameter:
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, description=description)


class AuditView(ApiView):
    """The audit trail of a workspace."""

    @extend_schema(
        summary="Read the audit trail of a workspace, newest first",
        description="It holds no content, and persons as keyed hashes: `userId` is looked for by its own.",
        operation_id="readAudit",
        parameters=[
            docs.WORKSPACE,
            _query("userId", "Events about this user."),
            _query("sessionId", "Events of the memories, as far as they are there, of this session."),
            _query("eventTypes", "Events, comma separated or repeated."),
            _query("from", "No earlier than this moment.", datetime),
            _query("to", "Before this moment.", datetime),
            _query("limit", f"Entries a page, 1 to {_LARGEST}; default {_PAGE}.", int),
            docs.CURSOR,
        ],
        responses=AuditAnswer,
    )
    def get(self, request: Request) -> HttpResponse:
        admitted, query = admit_person(self, at_least=Role.OWNER), self.query
        query.only("workspace", "workspace_id", "userId", "sessionId", "eventTypes", "from", "to", "limit", "cursor")
        person, bound = query.text("userId"), self.principal.subject
        if bound is not None and person not in (None, bound):
            raise Forbidden("This token is bound to another user.", code="bound_to_a_user")
        wanted = Wanted(
            place=admitted.workspace.uid,
            events=query.words("eventTypes"),
            since=query.moment("from"),
            until=query.moment("to"),
        )
        found = read_trail(
            wanted_of(wanted, person=person or bound, session=query.text("sessionId")),
            limit=query.integer("limit", default=_PAGE, low=1, high=_LARGEST),
            cursor=query.text("cursor", max_length=1024),
        )
        return json_response(found.as_json())
