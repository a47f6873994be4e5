"""Validation ratcheting: an update need not put right what it does not touch (spec: dedup, CEL rules)."""

from __future__ import annotations

from typing import Any

from policies.domain.schema.finding import Node, Path, child

_ABSENT = object()


def unchanged(path: Path, new: Any, old: Any, *, schema: Node) -> bool:
    """Whether the value at `path`, or something around it, is the same in `new` and `old`.

    Items of a keyed list are matched by their keys, wherever they stand; items of other lists have
    no counterpart.
    """
    at: Node = schema
    for step in path:
        if new == old:
            return True
        new, old = _step(new, step), _counterpart(new, old, step, at)
        if new is _ABSENT or old is _ABSENT:
            return False
        at = at["items"] if isinstance(step, int) else child(at, step) or {}
    return bool(new == old)


def _step(value: Any, step: str | int) -> Any:
    return value[step] if isinstance(step, int) else value.get(step, _ABSENT)


def _counterpart(new: Any, old: Any, step: str | int, schema: Node) -> Any:
    if isinstance(step, str):
        return old.get(step, _ABSENT) if isinstance(old, dict) else _ABSENT
    keys = schema.get("x-kubernetes-list-map-keys", ())
    item = new[step]
    if not keys or not isinstance(item, dict) or not isinstance(old, list):
        return _ABSENT
    same = (each for each in old if isinstance(each, dict) and all(each.get(key) == item.get(key) for key in keys))
    return next(same, _ABSENT)
