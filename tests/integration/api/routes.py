"""Routes that exist in tests only: the house rules, seen without any feature around them."""

from __future__ import annotations

import threading
from typing import ClassVar
from uuid import UUID

from django.db import connection
from django.http import HttpResponse
from django.urls import include, path
from django.views.decorators.csrf import csrf_protect

from omnia.api import error_pages
from omnia.api.models import ApiToken
from omnia.api.permissions import IsPlatformAdmin
from omnia.api.responses import json_response
from omnia.api.views import ApiView
from omnia.core.errors import Conflict, OmniaError
from omnia.core.scope import Scope

handler400 = handler403 = handler404 = error_pages.failed
handler500 = error_pages.crashed

WORKSPACE = UUID(int=7)
TEXT = "MARKER of what nobody may see"


class Echo(ApiView):
    """Says back what it understood."""

    def get(self, request):
        limit = self.query.integer("limit", default=20, low=1, high=100)
        return json_response({"caller": self.principal.name, "limit": limit, "workspace": self.query.text("workspace")})

    def post(self, request):
        return json_response({"body": self.body, "user_agent": self.actor.user_agent, "ip": self.actor.ip}, status=201)

    def delete(self, request):
        return json_response({"body": self.body})


class Work(ApiView):
    """Does work that can be counted: one row a run. `fail` names how the run ends."""

    runs: ClassVar[list[int]] = []
    lock = threading.Lock()

    def post(self, request):
        self.answers_for(Scope(WORKSPACE, user=self.body.get("user")))
        with self.lock:
            self.runs.append(1)
        if self.body.get("fail") == "conflict":
            raise Conflict("Taken.")
        if self.body.get("fail") == "crash":
            raise RuntimeError(TEXT)
        return json_response({"run": len(self.runs)}, status=201, headers={"X-Work": "done"})


class Fault(ApiView):
    """Fails the way the address says."""

    def get(self, request, kind):
        if kind == "data":
            with connection.cursor() as cursor:
                cursor.execute("SELECT %s::int", [TEXT])
        if kind == "detail":
            raise OmniaError(TEXT)
        if kind == "token":
            ApiToken.objects.get(id=UUID(int=0))
        raise RuntimeError(TEXT)


class Admin(ApiView):
    """For platform admins."""

    permission_classes = [IsPlatformAdmin]

    def get(self, request):
        return json_response({})


@csrf_protect
def form(request):
    """A page's form."""
    return HttpResponse("posted")


def broken_page(request):
    raise RuntimeError(TEXT)


api = [
    path("echo", Echo.as_view()),
    path("work", Work.as_view()),
    path("fault/<str:kind>", Fault.as_view()),
    path("admin", Admin.as_view()),
]
urlpatterns = [path("api/v1/", include(api)), path("form", form), path("broken", broken_page)]
