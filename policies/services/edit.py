"""Writing policies: admission, the row, its status and its audit entry, in one transaction.

The raw spec is stored as admitted. A spec the controller's checks refuse is stored all the same, in
phase `Error`, and the last valid one stays in force (spec: Status Fields).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from omnia.audit import record
from omnia.core.actor import Actor
from omnia.core.errors import Conflict, NotFound
from omnia.db import advisory_lock
from policies.domain.admission import admit_policy
from policies.domain.changes import told
from policies.domain.conditions import status_of
from policies.domain.patch import merge_patch
from policies.domain.schema.crd import is_name, name_in
from policies.models import MemoryPolicy
from policies.services.editing import Outcome, make_visible, require_admitted, require_fresh
from policies.services.wire import policy_object


def create_policy(document: object, *, actor: Actor, now: datetime) -> MemoryPolicy:
    """A new policy. Raises Unprocessable with every problem, Conflict `policy_exists` for a taken name."""
    checked = admit_policy(document, stored=None, now=now)
    require_admitted(checked)
    with transaction.atomic():
        if _locked(checked.name) is not None:
            raise Conflict("A policy of this name exists; replace it instead.", code="policy_exists")
        return _create(checked.name, checked.spec, actor, now)


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


def put_policy(document: object, *, actor: Actor, now: datetime) -> tuple[MemoryPolicy, Outcome]:
    """Creates the policy, or replaces it whatever its state, and says which."""
    with transaction.atomic():
        row = _locked(name_in(document))
        checked = admit_policy(document, stored=row.spec if row else None, now=now)
        require_admitted(checked)
        if row is None:
            return _create(checked.name, checked.spec, actor, now), Outcome.CREATED
        return row, _update(row, checked.spec, actor, now)


def delete_policy(name: str, *, actor: Actor, expected: str | None = None) -> None:
    """Removes the policy. Groups that bind it run with no policy from then on."""
    with transaction.atomic():
        row = _held(name)
        require_fresh(row, expected=expected)
        row.delete()
        record.policy_deleted(actor=actor, policy=name, metadata={"generation": row.generation})
        make_visible()


def _revise(
    name: str,
    document_for: Callable[[MemoryPolicy], object],
    *,
    actor: Actor,
    now: datetime,
    expected: str | None,
) -> MemoryPolicy:
    with transaction.atomic():
        row = _held(name)
        require_fresh(row, expected=expected)
        checked = admit_policy(document_for(row), stored=row.spec, now=now)
        require_admitted(checked, name=name)
        _update(row, checked.spec, actor, now)
        return row


def _held(name: str) -> MemoryPolicy:
    row = _locked(name)
    if row is None:
        raise NotFound("There is no policy of this name.", code="policy_not_found")
    return row


def _locked(name: str) -> MemoryPolicy | None:
    """The row, held by this transaction; also its absence, so that two creations cannot meet."""
    if not is_name(name):
        return None
    advisory_lock("policy", name)
    return MemoryPolicy.objects.select_for_update().filter(name=name).first()


def _create(name: str, spec: dict[str, Any], actor: Actor, now: datetime) -> MemoryPolicy:
    row = MemoryPolicy(name=name, created_at=now)
    _settle(row, spec, now)
    row.save(force_insert=True)
    record.policy_created(actor=actor, policy=name, metadata={"generation": row.generation, "phase": row.phase})
    make_visible()
    return row


def _update(row: MemoryPolicy, spec: dict[str, Any], actor: Actor, now: datetime) -> Outcome:
    if spec == row.spec:
        return Outcome.UNCHANGED
    changed = told(row.spec, spec)
    row.generation += 1
    _settle(row, spec, now)
    row.save(force_update=True)
    facts = {"generation": row.generation, "phase": row.phase, "changes": changed}
    record.policy_changed(actor=actor, policy=row.name, metadata=facts)
    make_visible()
    return Outcome.CONFIGURED


def _settle(row: MemoryPolicy, spec: dict[str, Any], now: datetime) -> None:
    """The spec and the status it comes to."""
    status = status_of(spec, generation=row.generation, now=now, previous=row.conditions)
    row.spec, row.phase, row.conditions = spec, status.phase, status.conditions
    row.observed_generation, row.updated_at = row.generation, now
    if status.phase == MemoryPolicy.Phase.ACTIVE:
        row.last_valid_spec = spec
