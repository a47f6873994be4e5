"""The Memories pages. A view reads the form, asks one service, and shows the answer."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from memories.dashboard.empty import first_save
from memories.dashboard.finding import find, forget_in, open_in, restore_in, trashed_in
from memories.dashboard.forms import CONFIDENCES, FilterForm, ScopeForm
from memories.dashboard.opened import OpenView, OpenViews
from memories.dashboard.retention import Panel, panel
from memories.domain.retention import Period
from memories.services.retention import report
from memories.services.standing import may_change
from omnia.core.errors import BadInput, Conflict, NotFound
from omnia.core.scope import Tier
from policies.dashboard.page import DashboardRequest, WorkspacePage
from policies.domain.effective import EffectivePolicy
from policies.services.resolve import policy_for


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

    def named_view(self) -> OpenView:
        """The named view. Raises NotFound when this session has none of that name."""
        view = self.view()
        if view is None:
            raise NotFound("This session has no such view.", code="view_not_found")
        return view

    @property
    def policy(self) -> EffectivePolicy:
        return policy_for(self.workspace.uid, service_group=settings.OMNIA.service_group)

    def trashed(self, view: OpenView, memory: UUID | None) -> dict[str, Any]:
        """What a page needs to offer a memory back that lies in the trash of the view."""
        if memory is None:
            return {}
        until = trashed_in(view.reach, memory=memory, role=self.workspace.role, now=self.desk.now)
        return {"trashed": memory, "trashed_until": until} if until else {}


class MemoryList(MemoriesPage):
    """The list of a scope, and the parts of it that htmx asks for."""

    def get(self, request: DashboardRequest) -> HttpResponseBase:
        view = self.view()
        if view is None:
            return self.go(reverse("memories"))
        wanted = FilterForm(request.GET)
        if not wanted.is_valid():
            raise BadInput("A filter holds what it cannot mean.", code="invalid_filter")
        response = self.show(self._template(), self._context(view, wanted))
        if request.htmx:
            response["HX-Replace-Url"] = address_of("memories", view, wanted.narrowing())
        return response

    def _template(self) -> str:
        """The whole page, or the part that htmx puts in place of its target."""
        htmx = self.request.htmx
        part = htmx.target if htmx and not htmx.history_restore_request else None
        return {"results": "memories/results.html", "more": "memories/rows.html"}.get(part or "", "memories/list.html")

    def _context(self, view: OpenView, wanted: FilterForm) -> dict[str, Any]:
        policy = self.policy
        found = find(view.reach, wanted=wanted, policy=policy, now=self.desk.now)
        narrowing = wanted.narrowing()
        return {
            "view": view,
            "form": ScopeForm.showing(view.reach),
            "wanted": wanted,
            "found": found,
            "narrowed": bool(narrowing),
            "further": wanted.goes_on(),
            "onward": address_of("memories", view, narrowing | found.onward) if found.onward else "",
            "types": _types(policy, asked=narrowing.get("type")),
            "confidences": CONFIDENCES,
            "retention": self._retention,
            "first_save": first_save(view.reach.scope, address=self.request.build_absolute_uri("/")),
            **self.trashed(view, wanted.cleaned_data["forgotten"]),
        }

    def _retention(self) -> Panel:
        """Only the whole page shows it, so only there it is looked up."""
        now = self.desk.now
        period, schedule = Period.of(None, None, now=now), settings.OMNIA.maintenance_schedule
        return panel(report(self.workspace.uid, period, schedule=schedule, now=now), now=now)


class ChooseScope(MemoriesPage):
    """Opens the scope a form names. The ids come in the body and stay in the session."""

    def post(self, request: DashboardRequest) -> HttpResponseBase:
        form = ScopeForm(request.POST)
        if not form.is_valid():
            return self.show("memories/list.html", {"form": form})
        view = self.views.open(form.reach(self.workspace.uid))
        if memory := form.cleaned_data["memory"]:
            return redirect(address_of("memory", view, memory=memory))
        return redirect(address_of("memories", view))


class OneMemory(MemoriesPage):
    """One memory: in the panel beside the list, and as a page of its own."""

    def get(self, request: DashboardRequest, memory: UUID) -> HttpResponseBase:
        view = self.view() or self.views.latest()
        try:
            opened = open_in(view.reach, memory=memory, actor=self.desk.actor, now=self.desk.now)
        except NotFound:
            if request.htmx:
                raise
            return self._elsewhere(view, memory)
        context = {
            "view": view,
            "memory": opened,
            "may_forget": may_change(Tier(opened.tier), role=self.workspace.role),
            "back": urlsplit(request.htmx.current_url or "").query,
        }
        return self.show("memories/panel.html" if request.htmx else "memories/memory.html", context)

    def _elsewhere(self, view: OpenView, memory: UUID) -> HttpResponse:
        """An address says nothing of whose the memory is: asks for the scope to look in."""
        context = {"view": view, "form": ScopeForm.showing(view.reach, memory=memory)}
        return self.show("memories/elsewhere.html", context | self.trashed(view, memory), status=404)


class ForgetMemory(MemoriesPage):
    """Puts a memory into the trash, and goes back to the list it was in."""

    def post(self, request: DashboardRequest, memory: UUID) -> HttpResponseBase:
        view, role, desk = self.named_view(), self.workspace.role, self.desk
        forget_in(view.reach, memory=memory, role=role, actor=desk.actor, now=desk.now)
        left = FilterForm(QueryDict(request.POST.get("back", "")))
        back = left.narrowing() if left.is_valid() else {}
        if self.trashed(view, memory):
            back |= {"forgotten": str(memory)}
        else:
            messages.success(request, "Forgotten. No agent recalls this memory any more.")
        return redirect(address_of("memories", view, back))


class RestoreMemory(MemoriesPage):
    """Takes a memory out of the trash, and opens it."""

    def post(self, request: DashboardRequest, memory: UUID) -> HttpResponseBase:
        view, desk = self.named_view(), self.desk
        try:
            restore_in(
                view.reach, memory=memory, role=self.workspace.role, policy=self.policy, actor=desk.actor, now=desk.now
            )
        except Conflict as refused:
            messages.error(request, refused.detail)
            return redirect(address_of("memories", view))
        messages.success(request, "Taken back. Agents recall this memory again.")
        return redirect(address_of("memory", view, memory=memory))


def address_of(name: str, view: OpenView, further: dict[str, str] | None = None, **parts: Any) -> str:
    """The address of a page about what `view` shows; the view's word stands for the scope."""
    query = urlencode({"view": view.word} | (further or {}))
    return f"{reverse(name, kwargs=parts)}?{query}"


def _types(policy: EffectivePolicy, *, asked: str | None) -> list[tuple[str, str]]:
    """The types of the schema with their labels, and the one asked for when it is none of them."""
    labels = {each.name: each.display_name or each.name for each in policy.vocabulary.types.values()}
    return list((({asked: asked} if asked else {}) | labels).items())
