"""A workspace's row, with the service groups and the roles its spec declares."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import ProtectedError

from omnia.api import idempotency
from omnia.audit.record import record
from omnia.core.actor import Actor
from omnia.core.errors import Conflict
from policies import permissions
from policies.models import ServiceGroup, Workspace
from policies.services.editing import make_visible
from policies.services.rows import Deed, Rows, whole


class WorkspaceRows(Rows[Workspace]):
    model, plural, noun = Workspace, "workspaces", "workspace"

    def store(self, row: Workspace, spec: dict[str, Any], *, now: datetime) -> None:
        row.spec, row.updated_at = spec, now
        row.save(force_insert=row._state.adding, force_update=not row._state.adding)
        _declare_groups(row)
        permissions.sync_workspace(row)
        make_visible()

    def require_removable(self, row: Workspace) -> None:
        if any(held.exists() for held in _contents(row)):
            raise _not_empty(row)

    def remove(self, row: Workspace, *, with_contents: bool) -> dict[str, Any]:
        removed = sum(held.delete()[0] for held in _contents(row)) if with_contents else 0
        permissions.clear_workspace(row)
        idempotency.drop_answers_in(row.uid)
        try:
            self.model.objects.filter(pk=row.pk).delete()  # the instance keeps its key, for the audit
        except ProtectedError:
            raise _not_empty(row) from None
        make_visible()
        return {"rows_removed": removed}

    def take_leave(self, row: Workspace) -> None:
        """An empty workspace goes. One with memories is set aside, out of everyone's reach but a platform admin's."""
        permissions.clear_workspace(row)
        if not any(held.exists() for held in _contents(row)):
            self.model.objects.filter(pk=row.pk).delete()
        else:
            row.service_groups.all().delete()
            title = f"{row.display_name} (deleted)"[:256]
            row.name, row.spec, row.resource_version = f"deleted-{row.uid}", {"displayName": title}, ""
            row.save(force_update=True)
        make_visible()

    def note(self, deed: Deed, row: Workspace, *, actor: Actor, **facts: Any) -> None:
        generation = {"generation": row.generation} if deed == "changed" else {}
        facts = generation | whole(deed, row.spec) | facts
        record(f"workspace_{deed}", workspace=row.uid, actor=actor, metadata={"name": row.name, **facts})


WORKSPACES = WorkspaceRows()


def _not_empty(row: Workspace) -> Conflict:
    detail = f"The workspace holds memories; confirm with its name ({row.name}) to delete them for good."
    return Conflict(detail, code="workspace_not_empty")


def _contents(row: Workspace) -> list[Any]:
    """What would keep the workspace from being deleted, a query set per store.

    Read from the models' own foreign keys, so that a store added later is not left behind.
    """
    relations = (each for each in Workspace._meta.related_objects if each.on_delete is models.PROTECT)
    return [each.related_model._base_manager.filter(**{each.field.name: row}) for each in relations]


def _declare_groups(row: Workspace) -> None:
    groups = {each["name"]: _policy_name(each) for each in row.spec.get("services", ())}
    row.service_groups.exclude(name__in=groups).delete()
    ServiceGroup.objects.bulk_create(
        [ServiceGroup(workspace=row, name=name, policy_name=policy) for name, policy in groups.items()],
        update_conflicts=True,
        unique_fields=["workspace", "name"],
        update_fields=["policy_name"],
    )


def _policy_name(service: Mapping[str, Any]) -> str:
    return str(service.get("memory", {}).get("policyRef", {}).get("name", ""))
