"""GET /memories/aggregate, Enterprise only: counts, never content (design: Memories)."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, RootModel
from rest_framework.request import Request

from memories.api import docs
from memories.api.commands import invalid
from memories.api.scope import admit_person
from memories.domain.aggregation import Aggregation, GroupBy, Metric
from memories.services.aggregate import aggregate
from omnia.api.permissions import IsEnterprise
from omnia.api.principal import Role
from omnia.api.query import Query
from omnia.api.responses import json_response
from omnia.api.views import ApiView

_GROUPS, _MOST_GROUPS = 100, 1000
Choice = TypeVar("Choice", bound=StrEnum)


class GroupAnswer(BaseModel):
    key: str
    value: int
    count: int


class AggregateAnswer(RootModel[list[GroupAnswer]]):
    pass


class AggregateView(ApiView):
    """Live memories of a workspace, counted.

    A viewer may: they read any memory of the workspace by naming its user, and no key names one. Counts of few are
    not hidden.
    """

    permission_classes = [IsEnterprise]

    @extend_schema(
        summary="Count memories by category, agent, day, tier or type",
        description="`value` is the metric asked for, `count` the memories. A token bound to a user counts that user's.",
        operation_id="aggregateMemories",
        parameters=[
            docs.WORKSPACE,
            OpenApiParameter("groupBy", str, OpenApiParameter.QUERY, required=True, enum=list(GroupBy)),
            OpenApiParameter("metric", str, OpenApiParameter.QUERY, enum=list(Metric)),
            OpenApiParameter("from", str, OpenApiParameter.QUERY, description="Made no earlier than this moment."),
            OpenApiParameter("to", str, OpenApiParameter.QUERY, description="Made before this moment."),
            OpenApiParameter("limit", int, OpenApiParameter.QUERY, description="Groups, 1 to 1000; default 100."),
        ],
        responses=AggregateAnswer,
    )
    def get(self, request: Request) -> HttpResponse:
        admitted, query = admit_person(self, at_least=Role.VIEWER), self.query
        query.only("workspace", "workspace_id", "groupBy", "metric", "from", "to", "limit")
        wanted = Aggregation(
            group_by=_choice(query, "groupBy", GroupBy),
            metric=_choice(query, "metric", Metric, default=Metric.COUNT),
            since=query.moment("from"),
            until=query.moment("to"),
            limit=query.integer("limit", default=_GROUPS, low=1, high=_MOST_GROUPS),
        )
        groups = aggregate(wanted, workspace=admitted.workspace.uid, user=self.principal.subject, now=self.now)
        return json_response(groups)


def _choice(query: Query, name: str, choices: type[Choice], *, default: Choice | None = None) -> Choice:
    given = query.text(name)
    if given is None and default is not None:
        return default
    if given not in list(choices):
        raise invalid(name, "not_allowed", f"one of {', '.join(choices)} is expected")
    return choices(given)
