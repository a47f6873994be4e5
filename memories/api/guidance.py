"""The tool guidance route: what a model is told about the memory tools of a workspace (spec: toolGuidance)."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from memories.api import docs
from memories.api.scope import SCOPE_PARAMETERS, admit_reader
from memories.domain.guidance import tool_guidance
from omnia.api.responses import json_response
from omnia.api.views import ApiView

_LONGEST_READ = 16_384
"""Far above what is used of the notes: longer ones are cut there, not refused."""


class ToolGuidanceView(ApiView):
    """The tools under the policy in force, with the agent's own notes behind the workspace's."""

    @docs.tool_guidance
    def get(self, request: Request) -> HttpResponse:
        admitted, query = admit_reader(self), self.query
        query.only(*SCOPE_PARAMETERS, "agent_notes")
        notes = query.text("agent_notes", max_length=_LONGEST_READ) or ""
        return json_response(tool_guidance(admitted.policy, agent_notes=notes).as_json())
