"""GET /memories/retention: what retention deleted, in numbers (design: Memories)."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, Field
from rest_framework.request import Request

from memories.api import docs
from memories.api.scope import admit_person
from memories.domain.retention import MOST_DAYS, USUAL_DAYS, Period
from memories.services.retention import report
from omnia.api.principal import Role
from omnia.api.responses import json_response
from omnia.api.views import ApiView
from omnia.core.errors import Forbidden


class CausesAnswer(BaseModel):
    expired: int
    purged: int
    consent_revoked: int


class DayAnswer(CausesAnswer):
    date: date
    tier: Literal["institutional", "agent", "user", "user_for_agent"]


class RunAnswer(BaseModel):
    """The last run of maintenance, and how many of this workspace's memories it deleted."""

    started_at: datetime
    finished_at: datetime | None
    deleted: int
    status: str = Field(description="`running`, `ok` or `failed`: then it is tried again.")


class RetentionAnswer(BaseModel):
    workspace_id: UUID
    since: datetime = Field(alias="from")
    until: datetime = Field(alias="to")
    totals: CausesAnswer
    days: list[DayAnswer]
    last_run: RunAnswer | None
    schedule: str = Field(description="Five fields of cron, in UTC.")
    next_run: datetime


class RetentionView(ApiView):
    """The numbers of a workspace: of everybody's memories, so not for a token bound to one user."""

    @extend_schema(
        summary="What retention deleted, by day, tier and cause",
        description="Numbers only, of whole days in UTC; days and tiers without any are left out.",
        operation_id="memoryRetention",
        parameters=[
            docs.WORKSPACE,
            OpenApiParameter(
                "from", datetime, OpenApiParameter.QUERY, description=f"First day; default {USUAL_DAYS} days back."
            ),
            OpenApiParameter(
                "to", datetime, OpenApiParameter.QUERY, description=f"End, at most {MOST_DAYS} days on; default now."
            ),
        ],
        responses=RetentionAnswer,
    )
    def get(self, request: Request) -> HttpResponse:
        admitted, query = admit_person(self, at_least=Role.VIEWER), self.query
        query.only("workspace", "workspace_id", "from", "to")
        if self.principal.subject is not None:
            raise Forbidden("This token is bound to a user; these numbers are of everybody.", code="bound_to_a_user")
        period = Period.of(query.moment("from"), query.moment("to"), now=self.now)
        workspace = admitted.workspace.uid
        numbers = report(workspace, period, schedule=settings.OMNIA.maintenance_schedule, now=self.now)
        return json_response({"workspace_id": workspace, **numbers.as_json()})
