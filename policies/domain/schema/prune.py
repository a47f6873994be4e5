"""First step of admission: drop what the schema does not know, then write its defaults.

A null field is dropped like an unknown one, without a complaint; a null in a list stays and is refused
by the type check. Only as deep as the schema goes, so a hostile document cannot make it recurse.
"""

from __future__ import annotations

from typing import Any

from policies.domain.schema.finding import Finding, Node, Path, child


def prune(value: Any, schema: Node, *, path: Path = (), unknown: list[Finding]) -> Any:
    """A copy of `value` with only declared fields, defaults filled in. Adds to `unknown` as it goes."""
    match value:
        case dict() if schema["type"] == "object" and _declares_fields(schema):
            return _prune_object(value, schema, path, unknown)
        case list() if schema["type"] == "array":
            items = schema["items"]
            return [prune(each, items, path=(*path, index), unknown=unknown) for index, each in enumerate(value)]
        case float() if schema["type"] == "integer" and value.is_integer():
            return int(value)  # the API server takes 10.0 for a whole number
        case _:
            return value


def _declares_fields(schema: Node) -> bool:
    """False for `metadata`, whose fields every object has in common."""
    return "properties" in schema or "additionalProperties" in schema


def _prune_object(value: dict[str, Any], schema: Node, path: Path, unknown: list[Finding]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, each in value.items():
        inner = child(schema, key)
        if each is None:
            continue
        if inner is None:
            unknown.append(Finding((*path, key), "unknown_field", _only(schema), judged=None))
        else:
            kept[key] = prune(each, inner, path=(*path, key), unknown=unknown)
    for name, inner in schema.get("properties", {}).items():
        if name not in kept and "default" in inner:
            kept[name] = inner["default"]
    return kept


def _only(schema: Node) -> str:
    return f"is not a field here; the fields are: {', '.join(schema['properties'])}"
