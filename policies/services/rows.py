"""Policies and workspaces as rows to hold, store and remove, one way for both.

Edits and the mirror of a cluster write through here, so a row means the same whoever brought its spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from omnia.api.moments import parse_moment
from omnia.core.actor import Actor
from omnia.db import advisory_lock
from policies.domain.changes import told
from policies.domain.schema.crd import is_name
from policies.kube.port import Document, Plural
from policies.models import MemoryPolicy, Workspace

Row = TypeVar("Row", MemoryPolicy, Workspace)
Deed = Literal["created", "changed", "deleted"]


def whole(deed: Deed, spec: Mapping[str, Any]) -> dict[str, Any]:
    """What a creation brought or a deletion took, leaf by leaf, for the audit."""
    found = {"created": ({}, spec), "deleted": (spec, {})}.get(deed)
    leaves = told(*found) if found else []
    return {"changes": leaves} if leaves else {}


class Rows(Generic[Row]):
    """The rows of one kind. Subclasses say what storing and removing one brings with it."""

    model: type[Row]
    plural: Plural
    noun: str

    def find(self, name: str) -> Row | None:
        return self.model.objects.filter(name=name).first()

    def hold(self, name: str) -> Row | None:
        """The row, held by this transaction; also its absence, so that two creations cannot meet."""
        if not is_name(name):
            return None
        advisory_lock(self.noun, name)
        return self.model.objects.select_for_update().filter(name=name).first()

    def new(self, name: str, *, now: datetime) -> Row:
        """A row that is not stored yet, at generation 1."""
        return self.model(name=name, created_at=now)

    def identify(self, row: Row, document: Document) -> None:
        """Takes over who the object is and how far it has come, as the API server says."""
        metadata = document["metadata"]
        row.uid, row.generation = UUID(metadata["uid"]), metadata["generation"]
        row.resource_version = metadata["resourceVersion"]
        row.created_at = parse_moment(metadata["creationTimestamp"])

    def store(self, row: Row, spec: dict[str, Any], *, now: datetime) -> None:
        """Writes the row with this spec and all that follows from it."""
        raise NotImplementedError

    def require_removable(self, row: Row) -> None:
        """Raises Conflict when removing the row would take with it what nobody confirmed."""

    def remove(self, row: Row, *, with_contents: bool) -> dict[str, Any]:
        """Deletes the row; what the audit should know of it. Raises Conflict as `require_removable` does."""
        raise NotImplementedError

    def take_leave(self, row: Row) -> None:
        """The object is gone from the cluster, or another has its name now; people's memories stay."""
        raise NotImplementedError

    def note(self, deed: Deed, row: Row, *, actor: Actor, **facts: Any) -> None:
        """The audit entry of a change, in the caller's transaction."""
        raise NotImplementedError
