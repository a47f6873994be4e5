"""Documents in the order the schema declares: a store keeps none, and a reader and a diff need one."""

from __future__ import annotations

from typing import Any

from policies.domain.schema.finding import Node, child


def in_order(value: Any, schema: Node | None) -> Any:
    """A copy of `value`, the keys of every object as `schema` has them; the others follow by name."""
    if isinstance(value, list):
        items = schema.get("items") if schema else None
        return [in_order(each, items) for each in value]
    if not isinstance(value, dict):
        return value
    declared = {key: place for place, key in enumerate(schema.get("properties", {}) if schema else ())}
    keys = sorted(value, key=lambda key: (declared.get(key, len(declared)), key))
    return {key: in_order(value[key], child(schema, key) if schema else None) for key in keys}
