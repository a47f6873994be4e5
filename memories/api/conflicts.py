"""GET /memories/conflicts: pairs that contradict each other."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from memories.api import docs
from memories.api.scope import SCOPE_PARAMETERS, admit_reader
from memories.domain.reach import DEFAULT_PAGE, LARGEST_PAGE
from memories.services.conflicts import list_conflicts
from omnia.api.responses import json_response
from omnia.api.views import ApiView


class ConflictsView(ApiView):
    """The conflicts among a user's memories, or without a user those of the shared tiers."""

    @docs.conflicts
    def get(self, request: Request) -> HttpResponse:
        admitted = admit_reader(self)
        self.query.only(*SCOPE_PARAMETERS, "limit", "cursor")
        found = list_conflicts(
            admitted.reach().scope,
            limit=self.query.integer("limit", default=DEFAULT_PAGE, low=1, high=LARGEST_PAGE),
            cursor=self.query.text("cursor"),
            now=self.now,
        )
        return json_response(found.as_json())
