"""The policy editor: one draft, posted with every step, shown as form, YAML, changes or conflict.

Every button posts the whole draft and gets the whole editor back, so that it works without scripts; with
them htmx swaps the editor, and asks for the notes beside the fields while somebody types.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.http.response import HttpResponseBase
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event

from omnia.core.errors import Conflict, FieldProblem, NotFound, OmniaError, Unprocessable
from policies.dashboard.draft import Draft, Fault
from policies.dashboard.editor import Editor, edited
from policies.dashboard.places import path_of
from policies.dashboard.policies import SEEN_WITHIN, PolicyPage, ShownPolicy, reading
from policies.dashboard.review import dotted
from policies.domain.manifest import dump_document
from policies.domain.merge import Clash
from policies.services.bindings import Binding, visible_bindings
from policies.services.edit import create_policy
from policies.services.joining import Diverged, join_edit

VIEWS = ("form", "yaml", "changes")
SETTLED = "draft-settled"
"""The event that tells the browser to drop the copy it keeps of a draft."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One place of a conflict as people read it: the value both began from, the one saved meanwhile, and the draft's."""

    pointer: str
    name: str
    base: str
    theirs: str
    mine: str


class Editing(PolicyPage):
    """What editing a policy and making one share: the steps of a draft."""

    name: str = ""
    """The policy that is edited; empty for a new one."""

    @property
    def view(self) -> str:
        """The view a button was pressed in; a conflict, once asked about, goes on as the changes."""
        view = self.request.POST.get("view", "form")
        return view if view in VIEWS else "changes"

    def step(self, draft: Draft, do: str) -> HttpResponseBase:
        """Answers one button: `form`, `yaml`, `changes`, `check`, `save`, or `undo:/a/b` and its like."""
        verb, _, pointer = do.partition(":")
        path = path_of(pointer)
        if verb == "save":
            return self.save(self._settled(draft), despite=pointer == "error")
        if verb == "check":
            return self.editor(draft, view=self.view, template="policies/check.html")
        acts: dict[str, Callable[[], Draft]] = {
            "undo": lambda: draft.undone(path),
            "remove": lambda: draft.put(path, None),
            "add": lambda: draft.added(path),
            "now": lambda: draft.put(path, f"{self.desk.now:%Y-%m-%dT%H:%M:%SZ}"),
            "entry": lambda: draft.added((*path, entry)) if entry else draft,
        }
        entry = self.request.POST.get(do, "").strip()
        if verb not in acts or not path:
            return self.editor(draft, view=verb if verb in VIEWS else "form")
        at = f"{pointer}/{entry}" if entry else pointer
        return self.editor(acts[verb](), view=self.view, focus=at)

    def editor(
        self,
        draft: Draft,
        *,
        view: str = "form",
        found: tuple[FieldProblem, ...] = (),
        template: str = "",
        **more: Any,
    ) -> HttpResponseBase:
        """The editor as it stands. A text that holds no document is shown as text, whatever was asked for."""
        editor = edited(draft, name=self.name, now=self.desk.now, found=found)
        if isinstance(draft.read, Fault) and view != "yaml":
            view, more = "yaml", more | {"unread": True}
        context = {
            "editor": editor,
            "view": view,
            "name": self.name,
            "bindings": self.bindings(editor),
            "address": self.request.path,
        }
        whole = "policies/edit.html" if not self.request.htmx else "policies/editor.html"
        return self.show(template or whole, context | self.head() | more)

    def head(self) -> dict[str, Any]:
        """What stands above the editor."""
        return {}

    def bindings(self, editor: Editor) -> list[Binding]:
        """The groups that saving reaches."""
        return visible_bindings(self.desk.principal).get(self.name or editor.name, [])

    def save(self, draft: Draft, *, despite: bool) -> HttpResponseBase:
        """Saves what can be stored; what would put the policy into phase Error only `despite` that."""
        editor = edited(draft, name=self.name, now=self.desk.now)
        if self.name and editor.readable and not editor.changes:
            return self.editor(draft, view=self.view)
        if editor.refused:
            return self.editor(draft, view=self.view, blocked=True, focus=editor.first_problem)
        if editor.problems and not despite:
            return self.editor(draft, view=self.view, unsound=True, focus=editor.first_problem)
        try:
            return self.store(draft)
        except Unprocessable as error:
            return self.editor(draft, view=self.view, found=error.errors, blocked=True)
        except OmniaError as error:
            return self.editor(draft, view=self.view, failed=error.detail)

    def store(self, draft: Draft) -> HttpResponseBase:
        raise NotImplementedError

    def saved(self, name: str, message: str) -> HttpResponseBase:
        """Back to the policy, with the draft gone."""
        messages.success(self.request, message)
        answer = self.go(reverse("policy", args=[name]))
        return trigger_client_event(answer, SETTLED) if isinstance(answer, HttpResponseClientRedirect) else answer

    def _settled(self, draft: Draft) -> Draft:
        """The draft with the choices of a conflict; it holds mine already."""
        for name, choice in self.request.POST.items():
            if name.startswith("pick:") and choice == "theirs":
                draft = draft.undone(path_of(name.removeprefix("pick:")))
        return draft


class OnePolicy(Editing):
    """A policy: an editor for platform admins, text for everybody else."""

    policy_shown: ShownPolicy

    def get(self, request: Any, name: str) -> HttpResponseBase:
        self.policy_shown = self.policy(name)
        if not self.may_edit:
            return reading(self, self.policy_shown)
        self.name = name
        return self.editor(Draft.of(self.policy_shown.row), view=request.GET.get("view", "form"))

    def post(self, request: Any, name: str) -> HttpResponseBase:
        self.require_admin()
        draft, self.name = Draft.received(request.POST), name
        try:
            self.policy_shown = self.policy(name)
        except NotFound:
            return self._gone(draft)
        return self.step(draft, request.POST.get("do", "form"))

    def head(self) -> dict[str, Any]:
        return {"policy": self.policy_shown}

    def store(self, draft: Draft) -> HttpResponseBase:
        desk = self.desk
        found = join_edit(self.name, draft.document["spec"], base=draft.base, actor=desk.actor, now=desk.now)
        if isinstance(found, Diverged):
            return self._diverged(draft, found)
        others = ", ".join(dotted(each.pointer) for each in found.others)
        along = f" Kept what was changed meanwhile: {others}." if others else ""
        reach = _reach(len(self.policy_shown.bindings))
        return self.saved(self.name, f"Saved as generation {found.row.generation}. {reach}{along}")

    def _diverged(self, draft: Draft, found: Diverged) -> HttpResponseBase:
        """The draft moves onto the policy as it is now; the places that clash are shown, with nothing decided."""
        self.policy_shown = self.policy(self.name)
        document = draft.document | {"spec": found.spec}
        moved = replace(draft, base=found.row.spec).holding(document)
        return self.editor(moved, view="conflict", choices=[_choice(each) for each in found.clashes])

    def _gone(self, draft: Draft) -> HttpResponseBase:
        """The policy was deleted meanwhile: what was typed becomes a new one of its name."""
        page = NewPolicy()
        page.setup(self.request)
        page.desk = self.desk
        return page.editor(Draft.new().holding(draft.document), gone=self.name, address=reverse("policy-new"))


class NewPolicy(Editing):
    """A policy that is not there yet: empty, or with the fields of another."""

    def get(self, request: Any) -> HttpResponseBase:
        self.require_admin()
        source = request.GET.get("from", "")
        if not source:
            return self.editor(Draft.new(request.GET.get("name", "")))
        spec = self.policy(source).row.spec
        return self.editor(Draft.new(f"{source}-copy", spec), source=source)

    def post(self, request: Any) -> HttpResponseBase:
        self.require_admin()
        return self.step(Draft.received(request.POST), request.POST.get("do", "form"))

    def store(self, draft: Draft) -> HttpResponseBase:
        try:
            row = create_policy(draft.document, actor=self.desk.actor, now=self.desk.now)
        except Conflict as error:
            if error.code != "policy_exists":
                raise
            taken = FieldProblem("/metadata/name", "taken", "is the name of another policy; choose a new one")
            return self.editor(draft, found=(taken,), blocked=True, focus="/metadata/name")
        reach = len(visible_bindings(self.desk.principal).get(row.name, []))
        return self.saved(row.name, f"Created {row.name}. {_reach(reach)}")


def _reach(groups: int) -> str:
    if not groups:
        return "No service group is bound to it yet."
    who = "1 service group follows" if groups == 1 else f"{groups} service groups follow"
    return f"{who} it within {SEEN_WITHIN} s."


def _choice(clash: Clash) -> Choice:
    texts = (_text(each) for each in (clash.base, clash.theirs, clash.mine))
    return Choice(clash.pointer, dotted(clash.pointer), *texts)


def _text(value: Any) -> str:
    """A value as the YAML has it."""
    if value is None:
        return "not set"
    structured = isinstance(value, (dict, list))
    return dump_document(value).strip() if structured else str(value)
