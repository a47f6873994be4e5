"""Writing policies: admission, then the keeper, which leaves the row, its status and its audit entry.

Without a cluster that is one transaction; with one the API server has the last word (see `keepers`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from omnia.core.actor import Actor
from omnia.core.errors import Conflict, NotFound
from policies.domain.admission import admit_policy
from policies.domain.patch import merge_patch
from policies.domain.schema.crd import name_in
from policies.models import MemoryPolicy
from policies.services.editing import Outcome, require_admitted, require_fresh
from policies.services.keepers import again_when_stale, keeper_of
from policies.services.policy_rows import POLICIES
from policies.services.wire import policy_object


def create_policy(document: object, *, actor: Actor, now: datetime) -> MemoryPolicy:
    """A new policy. Raises Unprocessable with every problem, Conflict `policy_exists` for a taken name."""
    checked = admit_policy(document, stored=None, now=now)
    require_admitted(checked)
    keeper = keeper_of(POLICIES)
    with keeper.held(checked.name) as row:
        if row is not None:
            raise Conflict("A policy of this name exists; replace it instead.", code="policy_exists")
        return keeper.create(checked, actor=actor, now=now)


def replace_policy(
    name: str, document: object, *, actor: Actor, now: datetime, expected: str | None = None
) -> MemoryPolicy:
    """The policy with a new spec. `expected` is the ETag the caller read.

    Raises NotFound, Unprocessable, and PreconditionFailed when the policy has changed since.
    """
    return _revise(name, lambda _row: document, actor=actor, now=now, expected=expected)


def patch_policy(
    name: str, patch: Mapping[str, Any], *, actor: Actor, now: datetime, expected: str | None = None
) -> MemoryPolicy:
    """The policy with a merge patch laid over its object; otherwise as `replace_policy`."""
    return _revise(name, lambda row: merge_patch(policy_object(row), patch), actor=actor, now=now, expected=expected)


@again_when_stale
def put_policy(document: object, *, actor: Actor, now: datetime) -> tuple[MemoryPolicy, Outcome]:
    """Creates the policy, or replaces it whatever its state, and says which."""
    keeper = keeper_of(POLICIES)
    with keeper.held(name_in(document)) as row:
        checked = admit_policy(document, stored=row.spec if row else None, now=now)
        require_admitted(checked)
        if row is None:
            return keeper.create(checked, actor=actor, now=now), Outcome.CREATED
        if row.spec == checked.spec:
            return row, Outcome.UNCHANGED
        return keeper.update(row, checked.spec, actor=actor, now=now), Outcome.CONFIGURED


@again_when_stale
def delete_policy(name: str, *, actor: Actor, expected: str | None = None) -> None:
    """Removes the policy. Groups that bind it run with no policy from then on."""
    keeper = keeper_of(POLICIES)
    with keeper.held(name) as held:
        row = _found(held)
        require_fresh(row, expected=expected)
        keeper.delete(row, actor=actor)


@again_when_stale
def _revise(
    name: str,
    document_for: Callable[[MemoryPolicy], object],
    *,
    actor: Actor,
    now: datetime,
    expected: str | None,
) -> MemoryPolicy:
    keeper = keeper_of(POLICIES)
    with keeper.held(name) as held:
        row = _found(held)
        require_fresh(row, expected=expected)
        checked = admit_policy(document_for(row), stored=row.spec, now=now)
        require_admitted(checked, name=name)
        return row if checked.spec == row.spec else keeper.update(row, checked.spec, actor=actor, now=now)


def _found(row: MemoryPolicy | None) -> MemoryPolicy:
    if row is None:
        raise NotFound("There is no policy of this name.", code="policy_not_found")
    return row
