"""Settings, Memory policies: the list, one policy to read, and deleting one (spec: How Policies Are Bound)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from omnia.core.edition import Edition
from omnia.core.errors import Forbidden, NotFound, PreconditionFailed
from omnia.licensing.edition import current_edition
from policies.dashboard.draft import Draft
from policies.dashboard.editor import edited
from policies.dashboard.moments import Moment, seen_from
from policies.dashboard.page import DashboardRequest, Page
from policies.models import MemoryPolicy
from policies.services.bindings import Binding, visible_bindings, visible_policies
from policies.services.edit import delete_policy
from policies.services.wire import etag

SEEN_WITHIN = 30
"""Seconds until every process follows a change (spec: re-reads it at most every 30 seconds)."""


@dataclass(frozen=True, slots=True)
class ShownPolicy:
    """A policy in the list or at the head of its page. `failing`: the conditions that are not True."""

    row: MemoryPolicy
    bindings: list[Binding]
    failing: list[dict[str, Any]]
    changed: Moment


class PolicyPage(Page):
    """A page about policies: everybody sees those bound where they may look, platform admins all."""

    nav = "policies"

    def policies(self) -> list[ShownPolicy]:
        """The policies this person may see."""
        return [self._shown(row, bindings) for row, bindings in visible_policies(self.desk.principal)]

    def policy(self, name: str) -> ShownPolicy:
        """One of them. Raises NotFound."""
        for row, bindings in visible_policies(self.desk.principal):
            if row.name == name:
                return self._shown(row, bindings)
        raise NotFound("There is no policy of this name.", code="policy_not_found")

    def require_admin(self) -> None:
        """Raises Forbidden for anybody but a platform admin: a change reaches every workspace that binds the policy."""
        if not self.may_edit:
            raise Forbidden("Policies are changed by platform admins.", code="role_too_small")

    @property
    def may_edit(self) -> bool:
        return self.desk.principal.platform_admin

    def show(self, template: str, context: dict[str, Any] | None = None, *, status: int = 200) -> HttpResponse:
        about = {
            "may_edit": self.may_edit,
            "within": SEEN_WITHIN,
            "core": current_edition() is Edition.CORE,
        }
        return super().show(template, about | (context or {}), status=status)

    def _shown(self, row: MemoryPolicy, bindings: list[Binding]) -> ShownPolicy:
        failing = [each for each in row.conditions if each["status"] != "True"]
        return ShownPolicy(row, bindings, failing, seen_from(self.desk.now, row.updated_at))


class PolicyList(PolicyPage):
    """Every policy with its phase, its failing conditions and the groups that bind it."""

    def get(self, request: DashboardRequest) -> HttpResponseBase:
        policies = self.policies()
        names = {each.row.name for each in policies}
        missing = {
            name: bindings
            for name, bindings in sorted(visible_bindings(self.desk.principal).items())
            if name not in names
        }
        return self.show("policies/list.html", {"policies": policies, "missing": missing})


class DeletePolicy(PolicyPage):
    """Asks, saying what the policy's absence changes, and deletes the policy that was asked about."""

    def get(self, request: DashboardRequest, name: str) -> HttpResponseBase:
        self.require_admin()
        policy = self.policy(name)
        return self.show("policies/delete.html", {"policy": policy, "etag": etag(policy.row)})

    def post(self, request: DashboardRequest, name: str) -> HttpResponseBase:
        self.require_admin()
        policy = self.policy(name)
        try:
            delete_policy(name, actor=self.desk.actor, expected=request.POST.get("etag", ""))
        except PreconditionFailed:
            context = {"policy": policy, "etag": etag(policy.row), "changed": True}
            return self.show("policies/delete.html", context)
        messages.success(request, f"Deleted {name}. {_now_without(len(policy.bindings))}")
        return redirect("policies")


def reading(page: PolicyPage, policy: ShownPolicy) -> HttpResponseBase:
    """The policy as text, for who may not change it."""
    editor = edited(Draft.of(policy.row), name=policy.row.name, now=page.desk.now)
    return page.show("policies/read.html", {"policy": policy, "editor": editor})


def _now_without(groups: int) -> str:
    if not groups:
        return "No service group was bound to it."
    who = "1 service group runs" if groups == 1 else f"{groups} service groups run"
    return f"{who} on the built-in defaults within {SEEN_WITHIN} s."
