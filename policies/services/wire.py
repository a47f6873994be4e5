"""Rows as the objects a client reads and writes (design: Policies, workspaces)."""

from __future__ import annotations

from typing import Any

from policies.domain.schema.crd import Crd
from policies.models import MemoryPolicy, Workspace

Row = MemoryPolicy | Workspace


def policy_object(row: MemoryPolicy) -> dict[str, Any]:
    """The whole MemoryPolicy object. The moments are datetimes."""
    return _object(row, "memorypolicies") | {"status": status_object(row)}


def status_object(row: MemoryPolicy) -> dict[str, Any]:
    """The policy's status as the object shows it."""
    return {"phase": row.phase, "observedGeneration": row.observed_generation, "conditions": row.conditions}


def workspace_object(row: Workspace) -> dict[str, Any]:
    """The whole Workspace object, likewise."""
    return _object(row, "workspaces")


def etag(row: Row) -> str:
    """The entity tag of a row's current generation."""
    return f'"{row.uid}:{row.generation}"'


def _object(row: Row, plural: str) -> dict[str, Any]:
    crd = Crd.load(plural)
    metadata = {
        "name": row.name,
        "uid": str(row.uid),
        "generation": row.generation,
        "creationTimestamp": row.created_at.replace(microsecond=0),
    }
    return crd.document(row.name, row.spec) | {"metadata": metadata}
