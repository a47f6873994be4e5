"""From a JSON object to a typed tree: one reader for every shape of the policy document.

Ranges and enums are the schema's business, checked before. Reading promises something else: it never
fails. What is missing or cannot be read takes its field's default, so that a row some older version
wrote can never stop a save or a recall (reference: Policy resolution).
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache, partial
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from omnia.api.moments import parse_moment
from omnia.core.duration import parse_duration

Shape = TypeVar("Shape")
Reader = Callable[[object], Any]


class Unreadable(ValueError):
    """A value that is not of the kind its field holds."""


_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)


def read(shape: type[Shape], raw: object) -> Shape:
    """`raw` as a `shape`, a dataclass whose field `max_age` stands for the key `maxAge`.

    A field may name another key in its metadata (`key`). Raises Unreadable when `raw` is no object
    or lacks a field that has no default.
    """
    if not isinstance(raw, Mapping):
        raise Unreadable("not an object")
    values: dict[str, Any] = {}
    for field in plan(shape):  # type: ignore[arg-type]  # classes are hashable, whatever mypy says
        if field.key in raw:
            with suppress(ValueError):
                values[field.name] = field.read(raw[field.key])
        if field.required and field.name not in values:
            raise Unreadable(f"{field.key} is missing")
    return shape(**values)


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """How one field is read: the key it stands for, and the reader of its value."""

    name: str
    key: str
    read: Reader
    required: bool


@cache
def plan(shape: type) -> tuple[FieldPlan, ...]:
    """The fields of a dataclass, in order. The hints are resolved once per shape."""
    hints = get_type_hints(shape)
    return tuple(
        FieldPlan(
            name=field.name,
            key=field.metadata.get("key", _camel_case(field.name)),
            read=_reader(hints[field.name]),
            required=field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(shape)
    )


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _reader(hint: Any) -> Reader:
    origin = get_origin(hint)
    if origin is types.UnionType:
        (inner,) = (each for each in get_args(hint) if each is not types.NoneType)
        return _reader(inner)
    if origin is tuple:
        return partial(_read_list, _reader(get_args(hint)[0]))
    if origin is Mapping:
        return partial(_read_mapping, _reader(get_args(hint)[1]))
    if isinstance(hint, type) and is_dataclass(hint):
        return partial(read, hint)
    return partial(_read_word, hint) if issubclass(hint, StrEnum) else _SCALARS[hint]


def _read_list(item: Reader, raw: object) -> tuple[Any, ...]:
    if not isinstance(raw, list):
        raise Unreadable("not a list")
    found = []
    for each in raw:
        with suppress(ValueError):
            found.append(item(each))
    return tuple(found)


def _read_mapping(item: Reader, raw: object) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise Unreadable("not an object")
    found = {}
    for key, each in raw.items():
        with suppress(ValueError):
            found[key] = item(each)
    return types.MappingProxyType(found)


def _read_word(words: type[StrEnum], raw: object) -> StrEnum:
    return words(_read_text(raw))


def _read_text(raw: object) -> str:
    if not isinstance(raw, str):
        raise Unreadable("not a text")
    return raw


def _read_flag(raw: object) -> bool:
    if not isinstance(raw, bool):
        raise Unreadable("not true or false")
    return raw


def _read_integer(raw: object) -> int:
    if not isinstance(raw, int) or isinstance(raw, bool):
        raise Unreadable("not a whole number")
    return raw


def _read_decimal(raw: object) -> float:
    text = _read_text(raw)
    value = float(text) if _DECIMAL.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise Unreadable("not a decimal")
    return value


def _read_duration(raw: object) -> timedelta:
    span = parse_duration(_read_text(raw))
    if span is None:
        raise Unreadable("empty, which means not set")
    return span


def _read_moment(raw: object) -> datetime:
    return parse_moment(_read_text(raw))


_SCALARS: dict[Any, Reader] = {
    str: _read_text,
    bool: _read_flag,
    int: _read_integer,
    float: _read_decimal,
    timedelta: _read_duration,
    datetime: _read_moment,
}
