"""Signing in and out, and moving between workspaces."""

from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from omnia.api.principal import Role
from policies.dashboard.desk import remember_workspace
from policies.dashboard.page import DashboardRequest, LeadsOn, Page
from policies.services.access import open_workspace


class SignIn(LoginView):
    """Username and password. The session's key changes; `?next=` leads to this host only."""

    template_name = "login.html"
    redirect_authenticated_user = True


class SignOut(LeadsOn, LogoutView):
    """Ends the session; by POST alone, so that no link can do it."""


class Home(Page):
    """The first page: the memories."""

    def get(self, request: DashboardRequest) -> HttpResponseBase:
        return redirect("memories")


class SwitchWorkspace(Page):
    """Moves to another workspace the person may see; any other one is not there."""

    def post(self, request: DashboardRequest) -> HttpResponseBase:
        reference = request.POST.get("workspace", "")
        workspace = open_workspace(self.desk.principal, reference, at_least=Role.VIEWER)
        remember_workspace(request, workspace.uid)
        return redirect("home")
