"""The Access page: tokens and members of a workspace, for its owners; accounts, for platform admins (reference: Roles)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from omnia.api.models import ApiToken
from omnia.api.principal import Role
from omnia.api.tokens import DREAMING
from omnia.core.duration import parse_duration
from omnia.core.errors import Forbidden, OmniaError
from policies.dashboard.page import DashboardRequest, WorkspacePage
from policies.services.accounts import create_account
from policies.services.members import grant_role, members_of, withdraw_role
from policies.services.tokens import Wish, make_token, visible_tokens, withdraw_token

_GRANTED = [(role.label, role.label.capitalize()) for role in (Role.VIEWER, Role.EDITOR, Role.OWNER)]
_LIFETIMES = [("30d", "30 days"), ("90d", "90 days"), ("365d", "1 year"), ("", "Never")]


class TokenForm(forms.Form):
    """A new token of this workspace."""

    name = forms.CharField(max_length=120)
    role = forms.ChoiceField(choices=_GRANTED)
    user = forms.CharField(required=False, max_length=253)
    dreaming = forms.BooleanField(required=False)
    expires = forms.ChoiceField(choices=_LIFETIMES, required=False)

    def wish(self, workspace: UUID) -> Wish:
        given = self.cleaned_data
        return Wish(
            name=given["name"],
            role=Role.of(given["role"]),
            workspaces=[str(workspace)],
            subject=given["user"] or None,
            scopes=frozenset({DREAMING} if given["dreaming"] else ()),
            lifetime=parse_duration(given["expires"]),
        )


class GrantForm(forms.Form):
    """A person's role in this workspace."""

    person = forms.CharField(max_length=150)
    role = forms.ChoiceField(choices=_GRANTED)
    until = forms.DateTimeField(required=False, input_formats=["%Y-%m-%d"])


class AccountForm(forms.Form):
    """A new account for the dashboard."""

    username = forms.CharField(max_length=150)
    platform_admin = forms.BooleanField(required=False)


class AccessPage(WorkspacePage):
    """Owners of the workspace, and platform admins."""

    nav = "access"

    def answer(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not self.desk.owns:
            raise Forbidden("Tokens and members are for owners of the workspace.", code="role_too_small")
        return super().answer(*args, **kwargs)

    def overview(self, **more: Any) -> HttpResponseBase:
        """The whole page; `more` holds the form that was refused, or what is shown only now."""
        members = members_of(self.workspace)
        known = set(
            User.objects.filter(username__in=[each["user"] for each in members.people]).values_list(
                "username", flat=True
            )
        )
        context = {
            "tokens": [_token(row, now=self.desk.now) for row in self._tokens()],
            "people": [each | {"unknown": each["user"] not in known} for each in members.people],
            "groups": members.groups,
            "token_form": TokenForm(initial={"role": "editor", "expires": "90d"}),
            "grant_form": GrantForm(initial={"role": "viewer"}),
            "account_form": AccountForm(),
        }
        response = self.show("access/page.html", context | more)
        response["Cache-Control"] = "no-store"
        return response

    def _tokens(self) -> list[ApiToken]:
        """Those that reach this workspace and that the person may withdraw."""
        return [
            row
            for row in visible_tokens(self.desk.principal)
            if row.all_workspaces or self.workspace.uid in row.workspaces
        ]


class Access(AccessPage):
    def get(self, request: DashboardRequest) -> HttpResponseBase:
        return self.overview()


class MakeToken(AccessPage):
    """Makes a token and shows its secret, this once."""

    def post(self, request: DashboardRequest) -> HttpResponseBase:
        form = TokenForm(request.POST)
        if not form.is_valid():
            return self.overview(token_form=form)
        desk = self.desk
        try:
            issued = make_token(form.wish(self.workspace.uid), principal=desk.principal, actor=desk.actor, now=desk.now)
        except OmniaError as error:
            form.add_error(None, error.detail)
            return self.overview(token_form=form)
        return self.overview(issued=issued)


class WithdrawToken(AccessPage):
    def post(self, request: DashboardRequest, token: UUID) -> HttpResponseBase:
        withdraw_token(token, principal=self.desk.principal, actor=self.desk.actor, now=self.desk.now)
        messages.success(request, "Withdrawn. The token is refused from now on.")
        return redirect("access")


class GrantRole(AccessPage):
    def post(self, request: DashboardRequest) -> HttpResponseBase:
        form, desk = GrantForm(request.POST), self.desk
        if not form.is_valid():
            return self.overview(grant_form=form)
        given = form.cleaned_data
        until: datetime | None = given["until"] + timedelta(days=1) if given["until"] else None
        try:
            grant_role(given["person"], Role.of(given["role"]), expires=until, workspace=str(self.workspace.uid),
                       principal=desk.principal, actor=desk.actor, now=desk.now)  # fmt: skip
        except OmniaError as error:
            form.add_error(None, error.detail)
            return self.overview(grant_form=form)
        messages.success(request, f"{given['person']} is {given['role']} of {self.workspace.name} now.")
        return redirect("access")


class WithdrawRole(AccessPage):
    def post(self, request: DashboardRequest) -> HttpResponseBase:
        person, desk = request.POST.get("person", ""), self.desk
        withdraw_role(
            person, workspace=str(self.workspace.uid), principal=desk.principal, actor=desk.actor, now=desk.now
        )
        messages.success(request, f"{person} has no role of their own in {self.workspace.name} any more.")
        return redirect("access")


class MakeAccount(AccessPage):
    """Makes an account and shows its password, this once."""

    def post(self, request: DashboardRequest) -> HttpResponseBase:
        if not self.desk.principal.platform_admin:
            raise Forbidden("Accounts are made by platform admins.", code="role_too_small")
        form = AccountForm(request.POST)
        if not form.is_valid():
            return self.overview(account_form=form)
        given = form.cleaned_data
        try:
            made = create_account(given["username"], platform_admin=given["platform_admin"], actor=self.desk.actor)
        except OmniaError as error:
            form.add_error("username", error.detail)
            return self.overview(account_form=form)
        return self.overview(account=made)


def _token(row: ApiToken, *, now: datetime) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "role": row.role,
        "user": row.subject,
        "scopes": ", ".join(row.scopes),
        "reach": "every workspace"
        if row.all_workspaces
        else f"{len(row.workspaces)} workspaces"
        if len(row.workspaces) > 1
        else "",
        "created": row.created_at,
        "expires": row.expires_at,
        "expired": row.expires_at is not None and row.expires_at <= now,
        "last_used": row.last_used_at,
    }
