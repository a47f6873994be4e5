"""The policy routes (design: Policies, workspaces)."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpResponse
from rest_framework.request import Request

from omnia.api.query import refuse
from omnia.api.responses import json_response
from omnia.core.errors import NotFound
from policies.api import docs
from policies.api.documents import DocumentView, listed
from policies.api.media import shown
from policies.domain.schema.crd import name_in
from policies.models import MemoryPolicy
from policies.services.bindings import Binding, visible_bindings, visible_policies
from policies.services.check import check_policy
from policies.services.edit import create_policy, delete_policy, patch_policy, replace_policy
from policies.services.wire import etag, policy_object


class _Policies(DocumentView):
    plural = "memorypolicies"

    def answer(self, row: MemoryPolicy, bindings: Sequence[Binding], *, status: int = 200) -> HttpResponse:
        """The object as it is now, with its entity tag."""
        return shown(self.request._request, _object(row, bindings), status=status, headers={"ETag": etag(row)})

    def is_visible(self, name: str) -> bool:
        """Whether the caller may read the policy of this name, when there is one."""
        return self.principal.platform_admin or name in visible_bindings(self.principal)

    def written(self, row: MemoryPolicy, *, status: int = 200) -> HttpResponse:
        return self.answer(row, visible_bindings(self.principal).get(row.name, []), status=status)


class PoliciesView(_Policies):
    """The policies the caller may see; a new one."""

    @docs.list_policies
    def get(self, request: Request) -> HttpResponse:
        rows = {row.name: (row, bindings) for row, bindings in visible_policies(self.principal)}
        names, cursor = self.page(sorted(rows))
        return shown(request._request, listed([_object(*rows[name]) for name in names], cursor))

    @docs.create_policy
    def post(self, request: Request) -> HttpResponse:
        return self.written(create_policy(self.document(), actor=self.actor, now=self.now), status=201)


class PolicyView(_Policies):
    """One policy."""

    @docs.show_policy
    def get(self, request: Request, name: str) -> HttpResponse:
        for row, bindings in visible_policies(self.principal):
            if row.name == name:
                return self.answer(row, bindings)
        raise NotFound("There is no policy of this name.", code="policy_not_found")

    @docs.replace_policy
    def put(self, request: Request, name: str) -> HttpResponse:
        expected = self.expected()
        return self.written(replace_policy(name, self.document(), actor=self.actor, now=self.now, expected=expected))

    @docs.patch_policy
    def patch(self, request: Request, name: str) -> HttpResponse:
        expected = self.expected()
        return self.written(patch_policy(name, self.given(), actor=self.actor, now=self.now, expected=expected))

    @docs.delete_policy
    def delete(self, request: Request, name: str) -> HttpResponse:
        delete_policy(name, actor=self.actor, expected=self.expected())
        return json_response({"status": "deleted", "name": name})


class ValidateView(_Policies):
    """A dry run: what admission would say, and the status the policy would have."""

    writes = False
    reads_only = True

    @docs.validate_policy
    def post(self, request: Request) -> HttpResponse:
        self.query.only("as")
        wanted = self.query.text("as")
        if wanted not in (None, "create"):
            raise refuse("as", "create is expected, or nothing")
        document = self.document()
        as_create = wanted == "create" or not self.is_visible(name_in(document))
        verdict = check_policy(document, as_create=as_create, now=self.now)
        errors = [each.as_json() for each in verdict.errors]
        return json_response({"valid": verdict.valid, "errors": errors, "conditions": verdict.conditions})


def _object(row: MemoryPolicy, bindings: Sequence[Binding]) -> dict[str, object]:
    return policy_object(row) | {"bindings": [each.as_json() for each in bindings]}
