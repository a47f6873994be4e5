"""Writing workspaces: admission, the row, its service groups and its roles, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.db import models, transaction
from django.db.models import ProtectedError

from omnia.audit.record import record
from omnia.core.actor import Actor
from omnia.core.errors import Conflict, NotFound
from omnia.db import advisory_lock
from policies import permissions
from policies.domain.admission import admit_workspace
from policies.domain.changes import told
from policies.domain.patch import merge_patch
from policies.domain.schema.crd import is_name, name_in
from policies.models import ServiceGroup, Workspace
from policies.services.editing import Outcome, make_visible, require_admitted, require_fresh
from policies.services.wire import workspace_object


def create_workspace(document: object, *, actor: Actor, now: datetime) -> Workspace:
    """A new workspace. Raises Unprocessable with every problem, Conflict `workspace_exists` for a taken name."""
    checked = admit_workspace(document, stored=None)
    require_admitted(checked)
    with transaction.atomic():
        if _locked(checked.name) is not None:
            raise Conflict("A workspace of this name exists; replace it instead.", code="workspace_exists")
        return _create(checked.name, checked.spec, actor, now)


def replace_workspace(
    name: str, document: object, *, actor: Actor, now: datetime, expected: str | None = None
) -> Workspace:
    """The workspace with a new spec. `expected` is the ETag the caller read.

    Raises NotFound, Unprocessable, and PreconditionFailed when the workspace has changed since.
    """
    return _revise(name, lambda _row: document, actor=actor, now=now, expected=expected)


def patch_workspace(
    name: str, patch: Mapping[str, Any], *, actor: Actor, now: datetime, expected: str | None = None
) -> Workspace:
    """The workspace with a merge patch laid over its object; otherwise as `replace_workspace`."""
    return _revise(name, lambda row: merge_patch(workspace_object(row), patch), actor=actor, now=now, expected=expected)


def put_workspace(document: object, *, actor: Actor, now: datetime) -> tuple[Workspace, Outcome]:
    """Creates the workspace, or replaces it whatever its state, and says which."""
    with transaction.atomic():
        row = _locked(name_in(document))
        checked = admit_workspace(document, stored=row.spec if row else None)
        require_admitted(checked)
        if row is None:
            return _create(checked.name, checked.spec, actor, now), Outcome.CREATED
        return row, _update(row, checked.spec, actor, now)


def delete_workspace(name: str, *, actor: Actor, confirmed: bool = False, expected: str | None = None) -> None:
    """Removes the workspace and every role in it.

    With memories in it, only when `confirmed`, and then they go with it, for good; otherwise raises
    Conflict `workspace_not_empty`.
    """
    with transaction.atomic():
        row = _held(name)
        require_fresh(row, expected=expected)
        uid, removed = row.uid, _delete_contents(row) if confirmed else 0
        permissions.clear_workspace(row)
        try:
            row.delete()
        except ProtectedError:
            detail = f"The workspace holds memories; confirm with its name ({name}) to delete them for good."
            raise Conflict(detail, code="workspace_not_empty") from None
        record("workspace_deleted", workspace=uid, actor=actor, metadata={"name": name, "rows_removed": removed})
        make_visible()


def _revise(
    name: str, document_for: Callable[[Workspace], object], *, actor: Actor, now: datetime, expected: str | None
) -> Workspace:
    with transaction.atomic():
        row = _held(name)
        require_fresh(row, expected=expected)
        checked = admit_workspace(document_for(row), stored=row.spec)
        require_admitted(checked, name=name)
        _update(row, checked.spec, actor, now)
        return row


def _held(name: str) -> Workspace:
    row = _locked(name)
    if row is None:
        raise NotFound("There is no workspace of this name.", code="workspace_not_found")
    return row


def _locked(name: str) -> Workspace | None:
    """The row, held by this transaction; also its absence, so that two creations cannot meet."""
    if not is_name(name):
        return None
    advisory_lock("workspace", name)
    return Workspace.objects.select_for_update().filter(name=name).first()


def _create(name: str, spec: dict[str, Any], actor: Actor, now: datetime) -> Workspace:
    row = Workspace(name=name, spec=spec, created_at=now, updated_at=now)
    row.save(force_insert=True)
    _settle(row)
    record("workspace_created", workspace=row.uid, actor=actor, metadata={"name": name})
    return row


def _update(row: Workspace, spec: dict[str, Any], actor: Actor, now: datetime) -> Outcome:
    if spec == row.spec:
        return Outcome.UNCHANGED
    changed = told(row.spec, spec)
    row.spec, row.updated_at = spec, now
    row.generation += 1
    row.save(force_update=True)
    _settle(row)
    facts = {"name": row.name, "generation": row.generation, "changes": changed}
    record("workspace_changed", workspace=row.uid, actor=actor, metadata=facts)
    return Outcome.CONFIGURED


def _settle(row: Workspace) -> None:
    """The service groups and the roles the spec declares, no more and no fewer."""
    groups = {each["name"]: _policy_name(each) for each in row.spec.get("services", ())}
    row.service_groups.exclude(name__in=groups).delete()
    ServiceGroup.objects.bulk_create(
        [ServiceGroup(workspace=row, name=name, policy_name=policy) for name, policy in groups.items()],
        update_conflicts=True,
        unique_fields=["workspace", "name"],
        update_fields=["policy_name"],
    )
    permissions.sync_workspace(row)
    make_visible()


def _policy_name(service: Mapping[str, Any]) -> str:
    return str(service.get("memory", {}).get("policyRef", {}).get("name", ""))


def _delete_contents(row: Workspace) -> int:
    """Deletes what would otherwise keep the workspace from being deleted; the number of rows.

    Read from the models' own foreign keys, so that a store added later is not left behind.
    """
    removed = 0
    for relation in Workspace._meta.related_objects:
        if relation.on_delete is models.PROTECT:
            held = relation.related_model._base_manager.filter(**{relation.field.name: row})
            removed += held.delete()[0]
    return removed
