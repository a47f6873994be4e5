"""Second step of admission: types, ranges, lengths, enums, patterns and list keys.

A generator, so that a document with ten thousand faults costs no more than the faults that are shown.
Every message states the rule, never the value that broke it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from omnia.api.moments import parse_moment
from policies.domain.schema.finding import Finding, Node, Path, child
from policies.domain.schema.rules import matches

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_FORMATS = {"int32": 2**31, "int64": 2**63}


def check(value: Any, schema: Node, *, path: Path = ()) -> Iterator[Finding]:
    """Every way in which `value` does not have the structure `schema` asks for."""
    kind = schema["type"]
    if not _IS[kind](value):
        yield Finding(path, "wrong_type", f"must be {_wanted(schema)}", judged=path)
    elif kind in _CHECKS:
        yield from _CHECKS[kind](value, schema, path)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_IS: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": _is_integer,
}


def _wanted(schema: Node) -> str:
    """The kind of value a field takes, with its range, as a message says it."""
    match schema:
        case {"title": title}:
            return str(title)
        case {"enum": words}:
            return f"one of: {', '.join(words)}"
        case {"format": "date-time"}:
            return "a time in RFC 3339 with T and an offset, such as 2026-01-31T09:30:00Z"
        case {"type": "integer"}:
            low, high = _range(schema)
            return f"a whole number from {low} to {high}"
    return {"object": "an object", "array": "a list", "string": "a text", "boolean": "true or false"}[schema["type"]]


def _range(schema: Node) -> tuple[int, int]:
    bound = _FORMATS[schema["format"]]
    return schema.get("minimum", -bound), schema.get("maximum", bound - 1)


def _check_integer(value: int, schema: Node, path: Path) -> Iterator[Finding]:
    low, high = _range(schema)
    if not low <= value <= high:
        yield Finding(path, "out_of_range", f"must be {_wanted(schema)}", judged=path)


def _check_string(value: str, schema: Node, path: Path) -> Iterator[Finding]:
    """The first rule a text breaks; one fault per text is enough to put it right."""
    if _UNSTORABLE.search(value):
        yield Finding(path, "unstorable_text", "must not hold NUL or lone surrogates", judged=path)
    elif "enum" in schema and value not in schema["enum"]:
        yield Finding(path, "not_allowed", f"must be {_wanted(schema)}", judged=path)
    elif not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        yield Finding(path, "bad_length", f"must be {_lengths(schema)} characters long", judged=path)
    elif ("pattern" in schema and not matches(value, pattern=schema["pattern"])) or (
        schema.get("format") == "date-time" and not _is_moment(value)
    ):
        yield Finding(path, "bad_format", f"must be {_wanted(schema)}", judged=path)


def _lengths(schema: Node) -> str:
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    return f"at most {high}" if not low else f"{low} to {high}"


def _is_moment(text: str) -> bool:
    try:
        parse_moment(text)
    except ValueError:
        return False
    return True


def _check_array(value: list[Any], schema: Node, path: Path) -> Iterator[Finding]:
    if len(value) > schema["maxItems"]:
        yield Finding(path, "too_many", f"must hold at most {schema['maxItems']} items", judged=path)
        return
    yield from _duplicates(value, schema, path)
    for index, each in enumerate(value):
        yield from check(each, schema["items"], path=(*path, index))


def _duplicates(value: list[Any], schema: Node, path: Path) -> Iterator[Finding]:
    names: Sequence[str] = schema.get("x-kubernetes-list-map-keys", ())
    seen: set[tuple[Any, ...]] = set()
    for index, each in enumerate(value):
        key = tuple(each.get(name) for name in names) if isinstance(each, dict) else ()
        if not key or not all(isinstance(part, str) for part in key):
            continue
        if key in seen:
            detail = f"repeats the {' and '.join(names)} of an earlier item"
            yield Finding((*path, index), "duplicate", detail, judged=path)
        seen.add(key)


def _check_object(value: dict[str, Any], schema: Node, path: Path) -> Iterator[Finding]:
    for name in schema.get("required", ()):
        if name not in value:
            yield Finding((*path, name), "required", "is required", judged=path)
    most = schema.get("maxProperties", len(value))
    if len(value) > most:
        yield Finding(path, "too_many", f"must hold at most {most} entries", judged=path)
        return
    for key, each in value.items():
        inner = child(schema, key)
        if _UNSTORABLE.search(key):
            yield Finding(path, "unstorable_text", "must not hold a key with NUL or lone surrogates", judged=path)
        elif inner is not None:
            yield from check(each, inner, path=(*path, key))


_CHECKS: dict[str, Callable[[Any, Node, Path], Iterator[Finding]]] = {
    "object": _check_object,
    "array": _check_array,
    "string": _check_string,
    "integer": _check_integer,
}
