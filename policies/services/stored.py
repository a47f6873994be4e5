"""The policies and workspaces there are, as files have them: to compare with, to write out, to apply elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from omnia.core.errors import NotFound
from policies.domain.plan import KINDS
from policies.domain.schema.crd import Crd
from policies.models import MemoryPolicy, Workspace

_MODELS: Mapping[str, type[MemoryPolicy] | type[Workspace]] = {"MemoryPolicy": MemoryPolicy, "Workspace": Workspace}


def stored_specs() -> dict[tuple[str, str], dict[str, Any]]:
    """Every spec by kind and name: the policies first, so that a binding finds its policy, then by name."""
    return {
        (kind, name): spec
        for kind, model in _MODELS.items()
        for name, spec in model._default_manager.order_by("name").values_list("name", "spec")
    }


def export_documents(labels: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The documents named `memorypolicy/NAME` or `workspace/NAME`; without a name all there are.

    Raises NotFound `document_not_found` with the names there is no document of.
    """
    found = {f"{kind.lower()}/{name}": (kind, name, spec) for (kind, name), spec in stored_specs().items()}
    if missing := [each for each in labels if each not in found]:
        raise NotFound(f"There is no {', '.join(missing)}.", code="document_not_found")
    chosen = (found[each] for each in (labels or found))
    return [Crd.load(KINDS[kind]).document(name, spec) for kind, name, spec in chosen]
