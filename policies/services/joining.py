"""Saving an edit that began some time ago: other people's edits since then are kept (field fault: lost updates).

What others changed elsewhere in the document is joined with the edit; what they changed in the same place is
told, and nothing is written. Only a spec that changed counts: a new status is no conflict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from omnia.core.actor import Actor
from omnia.core.errors import Conflict, NotFound, PreconditionFailed
from policies.domain.changes import Change, changes
from policies.domain.merge import Clash, merge
from policies.domain.patch import difference
from policies.models import MemoryPolicy
from policies.services.edit import patch_policy
from policies.services.wire import etag

_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Joined:
    """The policy as saved, and what others had changed since the edit began."""

    row: MemoryPolicy
    others: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Diverged:
    """Nothing was saved: the policy as it is, the edit joined with it, and the places that clash (there it is mine)."""

    row: MemoryPolicy
    spec: dict[str, Any]
    clashes: tuple[Clash, ...]


def join_edit(
    name: str, spec: Mapping[str, Any], *, base: Mapping[str, Any], actor: Actor, now: datetime
) -> Joined | Diverged:
    """Saves what `spec` changes of `base`, which it began as, on top of the policy as it is now.

    Raises NotFound, Unprocessable, and Conflict `edit_conflict` when others keep changing it meanwhile.
    """
    for _ in range(_ATTEMPTS):
        row = MemoryPolicy.objects.filter(name=name).first()
        if row is None:
            raise NotFound("There is no policy of this name.", code="policy_not_found")
        merged = merge({"spec": base}, theirs={"spec": row.spec}, mine={"spec": spec})
        if merged.clashes:
            return Diverged(row, merged.value["spec"], tuple(merged.clashes))
        patch = {"spec": difference(row.spec, merged.value["spec"])}
        others = tuple(changes(base, row.spec, pointer="/spec"))
        try:
            return Joined(patch_policy(name, patch, actor=actor, now=now, expected=etag(row)), others)
        except PreconditionFailed:
            continue
    raise Conflict("It is being changed by someone else at this moment; try again.", code="edit_conflict")
