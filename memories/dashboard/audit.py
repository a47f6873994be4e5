"""The Audit page: what happened in a workspace, for its owners, and everywhere, for platform admins (reference: Audit).

A person's id is sent as a body and stands in no address: pages and exports carry the pseudonym alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from memories.dashboard.audit_export import FORMATS, exported
from memories.services.audit_trail import read_trail, whole_trail
from omnia.api.principal import Role
from omnia.audit.pseudonym import pseudonym
from omnia.audit.trail import EVERYWHERE, Wanted, event_names
from omnia.core.errors import BadInput, Forbidden
from policies.dashboard.moments import Moment, seen_from
from policies.dashboard.page import DashboardRequest, WorkspacePage

PAGE_SIZE = 50
_PSEUDONYM = re.compile(r"[0-9a-f]{16}")


class TrailForm(forms.Form):
    """Which events. The days are UTC, and both count."""

    place = forms.ChoiceField(required=False, choices=[("", "This workspace"), (EVERYWHERE, "Everywhere")])
    event = forms.CharField(required=False, max_length=64)
    actor = forms.CharField(required=False, max_length=200)
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)
    person = forms.RegexField(_PSEUDONYM, required=False)

    def narrowing(self) -> dict[str, str]:
        """The fields that say something, as an address carries them."""
        return {name: str(value) for name, value in self.cleaned_data.items() if value}


@dataclass(frozen=True, slots=True)
class Change:
    """A value that was replaced: where it stands, and both as text."""

    pointer: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Event:
    """One entry as a person reads it."""

    name: str
    what: str
    at: Moment
    facts: list[tuple[str, str]]
    changes: list[Change]


class AuditPage(WorkspacePage):
    """Owners only; the whole installation is for platform admins."""

    nav = "audit"

    def answer(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if self.desk.workspace is not None and self.desk.workspace.role < Role.OWNER:
            raise Forbidden("The audit trail is for owners of the workspace.", code="role_too_small")
        return super().answer(*args, **kwargs)

    def asked(self) -> TrailForm:
        """The filters of the address. Raises BadInput `invalid_filter`, or Forbidden for a place that is not theirs."""
        form = TrailForm(self.request.GET)
        if not form.is_valid():
            raise BadInput("A filter holds what it cannot mean.", code="invalid_filter")
        if form.cleaned_data["place"] == EVERYWHERE and not self.desk.principal.platform_admin:
            raise Forbidden("The whole installation's trail is for platform admins.", code="role_too_small")
        return form

    def wanted(self, form: TrailForm) -> Wanted:
        given = form.cleaned_data
        return Wanted(
            place=given["place"] or self.workspace.uid,
            events=[given["event"]] if given["event"] else [],
            subject_hash=given["person"],
            actor=given["actor"],
            since=_midnight(given["since"]),
            until=_midnight(given["until"], days=1),
        )


class AuditTrail(AuditPage):
    """A page of events, newest first."""

    def get(self, request: DashboardRequest) -> HttpResponseBase:
        form = self.asked()
        wanted, cursor = self.wanted(form), request.GET.get("cursor") or None
        found, narrowing = read_trail(wanted, limit=PAGE_SIZE, cursor=cursor), form.narrowing()
        exports = [(name, _address("audit-export", narrowing | {"format": name})) for name in FORMATS]
        context = {
            "form": form,
            "events": [_event(entry, now=self.desk.now) for entry in found.entries],
            "total": found.total,
            "names": event_names(wanted.place),
            "narrowed": bool(narrowing.keys() - {"place"}),
            "further": cursor is not None,
            "newest": _address("audit", narrowing),
            "older": _address("audit", narrowing | {"cursor": found.next}) if found.next else "",
            "everybody": _address("audit", {key: value for key, value in narrowing.items() if key != "person"}),
            "exports": exports,
            "narrowing": narrowing,
        }
        return self.show("audit/list.html", context)


class AuditPerson(AuditPage):
    """Turns a person's id, sent as a body, into the pseudonym the trail knows them by."""

    def post(self, request: DashboardRequest) -> HttpResponseBase:
        kept = {name: str(value) for name, value in request.POST.items() if name in TrailForm.base_fields and value}
        user = request.POST.get("user", "").strip()
        return redirect(_address("audit", kept | ({"person": pseudonym(user)} if user else {})))


class AuditExport(AuditPage):
    """Every event the filters leave, as a file."""

    def get(self, request: DashboardRequest) -> HttpResponseBase:
        kind = FORMATS.get(request.GET.get("format", ""))
        if kind is None:
            raise BadInput(f"An export is one of {', '.join(FORMATS)}.", code="invalid_format")
        lines = exported(whole_trail(self.wanted(self.asked())), kind=kind)
        return StreamingHttpResponse(
            lines,
            content_type=kind.content_type,
            headers={"Content-Disposition": f'attachment; filename="audit.{kind.suffix}"'},
        )


def _event(entry: Mapping[str, Any], *, now: datetime) -> Event:
    metadata = dict(entry["metadata"])
    changes = [Change(each["pointer"], _text(each.get("before")), _text(each.get("after")))
               for each in metadata.pop("changes", ())]  # fmt: skip
    what = [entry["actor"], entry.get("reason", "").replace("_", " ")]
    return Event(
        name=entry["event"].replace("_", " ").replace(".", " ").capitalize(),
        what=" · ".join(filter(None, what)),
        at=seen_from(now, entry["at"]),
        facts=list(_facts(entry, metadata)),
        changes=changes,
    )


def _facts(entry: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    labels = {"subject_hash": "Person", "memory_id": "Memory", "workspace_id": "Workspace", "request_id": "Request",
              "ip": "Address", "user_agent": "User agent", "id": "Entry"}  # fmt: skip
    for name, label in labels.items():
        if entry.get(name):
            yield label, str(entry[name])
    for name, value in metadata.items():
        yield name.replace("_", " ").capitalize(), _text(value)


def _text(value: object) -> str:
    match value:
        case None:
            return "not set"
        case str():
            return value
        case list():
            return ", ".join(map(_text, value)) or "none"
        case dict():
            return ", ".join(f"{key} {_text(each)}" for key, each in value.items()) or "none"
        case bool():
            return "yes" if value else "no"
    return str(value)


def _midnight(day: Any, *, days: int = 0) -> datetime | None:
    return datetime.combine(day, time(), tzinfo=UTC) + timedelta(days=days) if day else None


def _address(name: str, query: Mapping[str, str]) -> str:
    return f"{reverse(name)}?{urlencode(query)}" if query else reverse(name)
