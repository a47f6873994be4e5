"""The Memories pages. A view reads the form, asks one service, and shows the answer."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from memories.dashboard.empty import first_save
from memories.dashboard.finding import find, open_in
from memories.dashboard.forms import CONFIDENCES, FilterForm, ScopeForm
from memories.dashboard.opened import OpenView, OpenViews
from memories.dashboard.reading import opened
from omnia.core.errors import BadInput, NotFound
from policies.dashboard.page import DashboardRequest, WorkspacePage
from policies.domain.effective import EffectivePolicy
from policies.services.resolve import policy_for

_NARROWING = ("q", "type", "category", "purpose", "confidence")


class MemoriesPage(WorkspacePage):
    """A page about the memories of the view that the address names, else of the one opened last."""

    nav = "memories"

    @property
    def views(self) -> OpenViews:
        return OpenViews(self.request.session, workspace=self.workspace.uid)

    def view(self) -> OpenView | None:
        """The named view, None when this session has none of that name."""
        word = self.request.GET.get("view", "")
        return self.views.find(word) if word else self.views.latest()

    def policy(self) -> EffectivePolicy:
        return policy_for(self.workspace.uid, service_group=settings.OMNIA.service_group)


class MemoryList(MemoriesPage):
    """The list of a scope, and the parts of it that htmx asks for."""

    def get(self, request: DashboardRequest) -> HttpResponseBase:
        view = self.view()
        if view is None:
            return self.go(reverse("memories"))
        wanted = FilterForm(request.GET)
        if not wanted.is_valid():
            raise BadInput("A filter holds what it cannot mean.", code="invalid_filter")
        return self.show(self._template(), list_context(self, view, wanted=wanted, form=ScopeForm.showing(view.reach)))

    def _template(self) -> str:
        """The whole page, or the part that htmx puts in place of its target."""
        htmx = self.request.htmx
        part = htmx.target if htmx and not htmx.history_restore_request else None
        return {"results": "memories/results.html", "more": "memories/rows.html"}.get(part or "", "memories/list.html")


class ChooseScope(MemoriesPage):
    """Opens the scope a form names. The ids come in the body and stay in the session."""

    def post(self, request: DashboardRequest) -> HttpResponseBase:
        form = ScopeForm(request.POST)
        if not form.is_valid():
            wanted = FilterForm({})
            wanted.is_valid()
            context = list_context(self, self.views.latest(), wanted=wanted, form=form)
            return self.show("memories/list.html", context, status=422)
        view = self.views.open(form.reach(self.workspace.uid))
        address = (
            reverse("memory", args=[memory])
            if (memory := _uuid(request.POST.get("memory", "")))
            else reverse("memories")
        )
        return redirect(f"{address}?{urlencode({'view': view.word})}")


class OneMemory(MemoriesPage):
    """One memory: in the panel beside the list, and as a page of its own."""

    def get(self, request: DashboardRequest, memory: UUID) -> HttpResponseBase:
        view = self.view() or self.views.latest()
        try:
            found = open_in(view.reach, memory=memory, actor=self.desk.actor, now=self.desk.now)
        except NotFound:
            if request.htmx:
                raise
            return self._elsewhere(view, memory)
        context = {"memory": opened(found, now=self.desk.now), "view": view}
        return self.show("memories/panel.html" if request.htmx else "memories/memory.html", context)

    def _elsewhere(self, view: OpenView, memory: UUID) -> HttpResponse:
        """An address says nothing of whose the memory is: asks for the scope to look in."""
        context = {"view": view, "form": ScopeForm.showing(view.reach), "memory_id": memory}
        return self.show("memories/elsewhere.html", context, status=404)


def list_context(page: MemoriesPage, view: OpenView, *, wanted: FilterForm, form: ScopeForm) -> dict[str, Any]:
    """What the list's templates show."""
    policy = page.policy()
    found = find(view.reach, wanted=wanted, policy=policy, now=page.desk.now)
    narrowed = {name: value for name, value in page.request.GET.items() if value and name in _NARROWING}
    here = {"view": view.word} | narrowed
    return {
        "view": view,
        "form": form,
        "wanted": wanted,
        "found": found,
        "narrowed": narrowed,
        "further": any(wanted.cleaned_data[name] for name in ("cursor", "offset")),
        "onward": urlencode(here | found.onward) if found.onward else "",
        "types": _types(policy, wanted.cleaned_data["type"]),
        "confidences": CONFIDENCES,
        "first_save": first_save(view.reach.scope, address=page.request.build_absolute_uri("/")),
    }


def _types(policy: EffectivePolicy, asked: str) -> list[tuple[str, str]]:
    """The types of the schema with their labels, and the one asked for when it is none of them."""
    labels = {each.name: each.display_name or each.name for each in policy.vocabulary.types.values()}
    return list((({asked: asked} if asked else {}) | labels).items())


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
