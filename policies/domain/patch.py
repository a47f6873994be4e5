"""JSON merge patch (RFC 7396): how a form saves the fields it shows and keeps the rest as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge_patch(target: Any, patch: Any) -> Any:
    """`target` with `patch` laid over it; a null removes. Neither argument is changed."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The patch that turns `before` into `after`: the changed leaves alone, empty when nothing changed.

    A list is a leaf. `after` holds no null, which a merge patch could not write.
    """
    patch: dict[str, Any] = dict.fromkeys(before.keys() - after.keys())
    for key, value in after.items():
        held = before.get(key)
        if isinstance(held, Mapping) and isinstance(value, Mapping):
            patch |= {key: inner} if (inner := difference(held, value)) else {}
        elif key not in before or held != value:
            patch[key] = value
    return patch
