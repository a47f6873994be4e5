"""A policy's row: the raw spec as admitted, and the status it comes to.

A spec the controller's checks refuse is stored all the same, in phase `Error`, and the last valid one stays
in force (spec: Status Fields).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from omnia.audit import record
from omnia.core.actor import Actor
from policies.domain.conditions import status_of
from policies.kube.port import Document
from policies.models import MemoryPolicy
from policies.services.editing import make_visible
from policies.services.rows import Deed, Rows, whole


class PolicyRows(Rows[MemoryPolicy]):
    model, plural, noun = MemoryPolicy, "memorypolicies", "policy"

    def identify(self, row: MemoryPolicy, document: Document) -> None:
        """Conditions too, so that they keep the time of their last turn when the row is a new one."""
        super().identify(row, document)
        row.conditions = document.get("status", {}).get("conditions") or row.conditions

    def store(self, row: MemoryPolicy, spec: dict[str, Any], *, now: datetime) -> None:
        status = status_of(spec, generation=row.generation, now=now, previous=row.conditions)
        row.spec, row.phase, row.conditions = spec, status.phase, status.conditions
        row.observed_generation, row.updated_at = row.generation, now
        if status.phase == MemoryPolicy.Phase.ACTIVE:
            row.last_valid_spec = spec
        row.save(force_insert=row._state.adding, force_update=not row._state.adding)
        make_visible()

    def remove(self, row: MemoryPolicy, *, with_contents: bool = False) -> dict[str, Any]:
        """Groups that bind the policy run with none from then on."""
        self.model.objects.filter(pk=row.pk).delete()  # the instance keeps its key, for the audit
        make_visible()
        return {}

    def take_leave(self, row: MemoryPolicy) -> None:
        self.remove(row)

    def note(self, deed: Deed, row: MemoryPolicy, *, actor: Actor, **facts: Any) -> None:
        phase = {} if deed == "deleted" else {"phase": row.phase}
        facts = whole(deed, row.spec) | facts
        _EVENTS[deed](actor=actor, policy=row.name, metadata={"generation": row.generation, **phase, **facts})


_EVENTS = {"created": record.policy_created, "changed": record.policy_changed, "deleted": record.policy_deleted}
POLICIES = PolicyRows()
