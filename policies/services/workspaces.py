"""Writing workspaces: admission, then the keeper, which leaves the row, its service groups and its roles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from omnia.core.actor import Actor
from omnia.core.errors import Conflict, NotFound
from policies.domain.admission import admit_workspace
from policies.domain.patch import merge_patch
from policies.domain.schema.crd import name_in
from policies.models import Workspace
from policies.services.editing import Outcome, require_admitted, require_fresh
from policies.services.keepers import again_when_stale, keeper_of
from policies.services.wire import workspace_object
from policies.services.workspace_rows import WORKSPACES


def create_workspace(document: object, *, actor: Actor, now: datetime) -> Workspace:
    """A new workspace. Raises Unprocessable with every problem, Conflict `workspace_exists` for a taken name."""
    checked = admit_workspace(document, stored=None)
    require_admitted(checked)
    keeper = keeper_of(WORKSPACES)
    with keeper.held(checked.name) as row:
        if row is not None:
            raise Conflict("A workspace of this name exists; replace it instead.", code="workspace_exists")
        return keeper.create(checked, actor=actor, now=now)


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


@again_when_stale
def put_workspace(document: object, *, actor: Actor, now: datetime) -> tuple[Workspace, Outcome]:
    """Creates the workspace, or replaces it whatever its state, and says which."""
    keeper = keeper_of(WORKSPACES)
    with keeper.held(name_in(document)) as row:
        checked = admit_workspace(document, stored=row.spec if row else None)
        require_admitted(checked)
        if row is None:
            return keeper.create(checked, actor=actor, now=now), Outcome.CREATED
        if row.spec == checked.spec:
            return row, Outcome.UNCHANGED
        return keeper.update(row, checked.spec, actor=actor, now=now), Outcome.CONFIGURED


@again_when_stale
def delete_workspace(name: str, *, actor: Actor, confirmed: bool = False, expected: str | None = None) -> None:
    """Removes the workspace and every role in it.

    With memories in it, only when `confirmed`, and then they go with it, for good; otherwise raises
    Conflict `workspace_not_empty`.
    """
    keeper = keeper_of(WORKSPACES)
    with keeper.held(name) as held:
        row = _found(held)
        require_fresh(row, expected=expected)
        keeper.delete(row, actor=actor, with_contents=confirmed)


@again_when_stale
def _revise(
    name: str, document_for: Callable[[Workspace], object], *, actor: Actor, now: datetime, expected: str | None
) -> Workspace:
    keeper = keeper_of(WORKSPACES)
    with keeper.held(name) as held:
        row = _found(held)
        require_fresh(row, expected=expected)
        checked = admit_workspace(document_for(row), stored=row.spec)
        require_admitted(checked, name=name)
        return row if checked.spec == row.spec else keeper.update(row, checked.spec, actor=actor, now=now)


def _found(row: Workspace | None) -> Workspace:
    if row is None:
        raise NotFound("There is no workspace of this name.", code="workspace_not_found")
    return row
