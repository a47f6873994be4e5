"""What the Memories page asks: whose memories (sent as a body), and which of them (a plain query string)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms

from memories.domain.consent import CATEGORIES
from memories.domain.reach import Filters, Reach
from omnia.core.scope import Scope

LONGEST_ID = 253
LONGEST_QUERY = 1000
CONFIDENCES = [("", "Any"), ("0.5", "50% or more"), ("0.7", "70% or more"), ("0.9", "90% or more")]


class ScopeForm(forms.Form):
    """Whose memories to show: a tier, and the ids that the tier needs."""

    tier = forms.ChoiceField(choices=[("institutional", "Institutional"), ("agent", "Agent"), ("user", "User")])
    user = forms.CharField(required=False, max_length=LONGEST_ID)
    agents = forms.ChoiceField(
        required=False,
        choices=[("any", "Any agent or none"), ("none", "No agent"), ("one", "One agent")],
    )
    agent = forms.CharField(required=False, max_length=LONGEST_ID)
    shared = forms.BooleanField(required=False)
    memory = forms.UUIDField(required=False)
    """The memory to open in that scope; without one its list is shown."""

    @staticmethod
    def showing(reach: Reach, *, memory: UUID | None = None) -> ScopeForm:
        """The form as it was filled in to get `reach`."""
        scope = reach.scope
        one_or_none = "one" if scope.agent else "none"
        return ScopeForm(
            initial={
                "tier": "user" if scope.user else "agent" if scope.agent else "institutional",
                "user": scope.user or "",
                "agents": "any" if reach.any_agent or not scope.user else one_or_none,
                "agent": scope.agent or "",
                "shared": reach.include_shared,
                "memory": memory,
            }
        )

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if given.get("tier") == "user" and not given.get("user") and "user" not in self.errors:
            self.add_error("user", "Give the user's id.")
        if self._names_agent() and not given.get("agent") and "agent" not in self.errors:
            self.add_error("agent", "Give the agent's id.")
        return given

    def reach(self, workspace: UUID) -> Reach:
        """The rows a valid form asks for. Fields of another tier than the chosen one do not count."""
        given = self.cleaned_data
        user = given["user"] if given["tier"] == "user" else None
        agent = given["agent"] if self._names_agent() else None
        return Reach(
            Scope(workspace, user=user, agent=agent),
            any_agent=user is not None and given["agents"] not in ("none", "one"),
            include_shared=given["shared"] and given["tier"] != "institutional",
        )

    def _names_agent(self) -> bool:
        tier, agents = self.cleaned_data.get("tier"), self.cleaned_data.get("agents")
        return tier == "agent" or (tier == "user" and agents == "one")


class FilterForm(forms.Form):
    """Which of the scope's memories to show, and from where on."""

    q = forms.CharField(required=False, max_length=LONGEST_QUERY)
    type = forms.CharField(required=False, max_length=128)
    category = forms.ChoiceField(required=False, choices=[(name, name) for name in sorted(CATEGORIES)])
    purpose = forms.CharField(required=False, max_length=128)
    confidence = forms.FloatField(required=False, min_value=0, max_value=1)
    cursor = forms.CharField(required=False, max_length=200)
    offset = forms.IntegerField(required=False, min_value=0, max_value=1_000_000)
    forgotten = forms.UUIDField(required=False)
    """The memory just forgotten, to be offered back."""

    def narrowing(self) -> dict[str, str]:
        """The parameters of a valid form that narrow the scope, for an address."""
        names = ("q", "type", "category", "purpose", "confidence")
        return {name: str(value) for name in names if (value := self.cleaned_data[name]) not in ("", None)}

    def goes_on(self) -> bool:
        """Whether a valid form asks for a page behind the first."""
        return bool(self.cleaned_data["cursor"] or self.cleaned_data["offset"])

    def filters(self) -> Filters:
        """The filters a valid form asks for."""
        given = self.cleaned_data
        return Filters(
            types=(given["type"],) if given["type"] else (),
            category=given["category"] or None,
            purpose=given["purpose"] or None,
            min_confidence=given["confidence"],
        )
