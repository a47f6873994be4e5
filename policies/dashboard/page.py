"""The view every signed-in page derives from (design: Auth; browser sessions use CSRF).

It sends a stranger to the sign-in page and turns the errors of the services into error pages, so that
a page's own code says only what the page does.
"""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.contrib.auth.models import AbstractUser
from django.contrib.auth.views import redirect_to_login
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views import View
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from omnia.api import error_pages
from omnia.core.errors import OmniaError
from policies.dashboard.desk import Desk, desk_of
from policies.services.access import OpenWorkspace


class DashboardRequest(HttpRequest):
    """A request as the middleware leaves it."""

    htmx: HtmxDetails


class LeadsOn(View):
    """A view whose address, typed or reloaded where it takes a form only, is refused with a page, not with nothing."""

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        refused = super().http_method_not_allowed(request, *args, **kwargs)
        refused.content = render_to_string("405.html").encode()
        return refused


class Page(LeadsOn):
    """A page of the dashboard, for someone signed in. `nav` names its entry in the navigation."""

    request: DashboardRequest
    desk: Desk
    nav: ClassVar[str] = ""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not isinstance(request.user, AbstractUser):
            return self._sign_in()
        try:
            self.desk = desk_of(request, user=request.user)
            return self.answer(*args, **kwargs)
        except (OmniaError, OperationalError, InterfaceError) as error:
            return error_pages.page(request, error)

    def answer(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """The answer to someone signed in."""
        return super().dispatch(self.request, *args, **kwargs)

    def show(self, template: str, context: dict[str, Any] | None = None, *, status: int = 200) -> HttpResponse:
        """Renders a template in the frame of the dashboard."""
        framed = {"desk": self.desk, "nav": self.nav} | (context or {})
        return render(self.request, template, framed, status=status)

    def go(self, address: str) -> HttpResponseBase:
        """Sends the browser to another page, also when htmx asked for a part of this one."""
        return HttpResponseClientRedirect(address) if self.request.htmx else redirect(address)

    def _sign_in(self) -> HttpResponseBase:
        """The way to the sign-in page and back to what was asked for; to the first page when that was a form."""
        if not self.request.htmx:
            reads = self.request.method in ("GET", "HEAD")
            return redirect_to_login(self.request.get_full_path() if reads else reverse("home"))
        there = urlsplit(self.request.htmx.current_url_abs_path or "/")
        return self.go(redirect_to_login(there.path).url)


class WorkspacePage(Page):
    """A page about the current workspace; who has none is told how to get one."""

    workspace: OpenWorkspace

    def answer(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if self.desk.workspace is None:
            return self.show("shell/no_workspace.html")
        self.workspace = self.desk.workspace
        return super().answer(*args, **kwargs)
