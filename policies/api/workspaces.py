"""The workspace routes (design: Policies, workspaces)."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from omnia.api.principal import Role
from omnia.api.responses import json_response
from omnia.core.errors import NotFound
from policies.api import docs
from policies.api.documents import DocumentView, listed
from policies.api.media import shown
from policies.models import Workspace
from policies.services.access import visible_workspaces
from policies.services.wire import etag, workspace_object
from policies.services.workspaces import create_workspace, delete_workspace, patch_workspace, replace_workspace

_MEMBERS = ("roleBindings", "directGrants")


class _Workspaces(DocumentView):
    plural = "workspaces"

    def visible(self) -> dict[str, Role]:
        """The workspaces the caller may see, by name, and their role in each."""
        return {each.name: each.role for each in visible_workspaces(self.principal)}

    def answer(self, row: Workspace, role: Role, *, status: int = 200) -> HttpResponse:
        return shown(self.request._request, _object(row, role), status=status, headers={"ETag": etag(row)})


class WorkspacesView(_Workspaces):
    """The workspaces the caller may see; a new one."""

    @docs.list_workspaces
    def get(self, request: Request) -> HttpResponse:
        roles = self.visible()
        names, cursor = self.page(sorted(roles))
        rows = Workspace.objects.in_bulk(names, field_name="name")
        found = [
            _object(rows[name], roles[name] if self.principal.subject is None else Role.VIEWER)
            for name in names
            if name in rows
        ]
        return shown(request._request, listed(found, cursor))

    @docs.create_workspace
    def post(self, request: Request) -> HttpResponse:
        row = create_workspace(self.document(), actor=self.actor, now=self.now)
        return self.answer(row, Role.PLATFORM_ADMIN, status=201)


class WorkspaceView(_Workspaces):
    """One workspace."""

    @docs.show_workspace
    def get(self, request: Request, name: str) -> HttpResponse:
        role = self.visible().get(name)
        row = Workspace.objects.filter(name=name).first() if role else None
        if row is None or role is None:
            raise NotFound("There is no workspace of this name.", code="workspace_not_found")
        return self.answer(row, role if self.principal.subject is None else Role.VIEWER)

    @docs.replace_workspace
    def put(self, request: Request, name: str) -> HttpResponse:
        expected = self.expected()
        row = replace_workspace(name, self.document(), actor=self.actor, now=self.now, expected=expected)
        return self.answer(row, Role.PLATFORM_ADMIN)

    @docs.patch_workspace
    def patch(self, request: Request, name: str) -> HttpResponse:
        expected = self.expected()
        row = patch_workspace(name, self.given(), actor=self.actor, now=self.now, expected=expected)
        return self.answer(row, Role.PLATFORM_ADMIN)

    @docs.delete_workspace
    def delete(self, request: Request, name: str) -> HttpResponse:
        self.query.only("confirm")
        confirmed = self.query.text("confirm") == name
        delete_workspace(name, actor=self.actor, confirmed=confirmed, expected=self.expected())
        return json_response({"status": "deleted", "name": name})


def _object(row: Workspace, role: Role) -> dict[str, Any]:
    """The object; who else is a member is for owners."""
    found = workspace_object(row)
    if role >= Role.OWNER:
        return found
    return found | {"spec": {name: value for name, value in found["spec"].items() if name not in _MEMBERS}}
