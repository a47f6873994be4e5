"""A field of the policy form, read from the custom resource schema: there is no second list of ranges or defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any

from omnia.core.duration import format_duration
from policies.domain.document import PolicySpec
from policies.domain.reading import plan
from policies.domain.schema.finding import Node, pointer

Path = tuple[str, ...]

_LONG_TEXT = 1000
_UNBOUNDED = 2**31 - 1
_GATED = "Enterprise."
_UNITS = {
    "Bytes": "bytes",
    "Days": "days",
    "Hour": "items an hour",
    "Subjects": "users",
    "Scoped": "users",
    "HeldPerSubject": "shares",
    "RelatedPerMemory": "memories",
    "candidateLimit": "matches",
    "BucketsPerPass": "buckets",
    "PerBucket": "entries",
    "size": "words",
    "overlap": "words",
}


class Kind(StrEnum):
    """How a field is entered and read back."""

    FLAG = "flag"
    WORD = "word"
    WHOLE = "whole"
    DECIMAL = "decimal"
    DURATION = "duration"
    MOMENT = "moment"
    LINE = "line"
    PROSE = "prose"
    LINES = "lines"


@dataclass(frozen=True)
class Field:
    """One leaf of the document: `path` from the document root, and what the schema says of it."""

    path: Path
    schema: Node
    enterprise: bool

    @cached_property
    def pointer(self) -> str:
        return pointer(self.path)

    @property
    def key(self) -> str:
        return self.path[-1]

    @property
    def label(self) -> str:
        return in_words(self.key)

    @cached_property
    def kind(self) -> Kind:
        match self.schema:
            case {"type": "boolean"}:
                return Kind.FLAG
            case {"type": "integer"}:
                return Kind.WHOLE
            case {"type": "array"}:
                return Kind.LINES
            case {"enum": _}:
                return Kind.WORD
            case {"format": "date-time"}:
                return Kind.MOMENT
            case {"title": str(title)} if title.startswith("a duration"):
                return Kind.DURATION
            case {"title": str(title)} if title.startswith("a decimal"):
                return Kind.DECIMAL
        return Kind.PROSE if self.schema.get("maxLength", 0) >= _LONG_TEXT else Kind.LINE

    @property
    def help(self) -> str:
        """The schema's words, without the default that stands beside the field anyway."""
        return re.sub(r"[0-9]\S* when unset( or zero)?\.", "", described(self.schema)).strip()

    @cached_property
    def choices(self) -> list[tuple[str, str]]:
        """Value and label of what may be chosen, first the choice of none; empty for a field that is typed."""
        if self.kind is Kind.FLAG:
            words = [("true", "On"), ("false", "Off")]
        else:
            words = [(word, word) for word in self.schema.get("enum", ())]
        default = dict(words).get(self.default, self.default)
        return [("", f"Default ({default})" if default else "Not set"), *words] if words else []

    @cached_property
    def default(self) -> str:
        """What holds while the field is empty, as it would be typed; empty when nothing does."""
        return _typed(self.schema["default"] if "default" in self.schema else _built_in(self.path[1:]))

    @property
    def unit(self) -> str:
        """What a number counts."""
        if self.kind is not Kind.WHOLE:
            return ""
        return next((unit for end, unit in _UNITS.items() if self.key.endswith(end)), "")

    @property
    def range(self) -> str:
        """What may be entered, in words."""
        match self.kind:
            case Kind.WHOLE:
                low, high = self.schema["minimum"], self.schema["maximum"]
                return f"{low:,} or more" if high >= _UNBOUNDED else f"{low:,} to {high:,}"
            case Kind.DECIMAL:
                between = " to ".join(re.findall(r"from (\S+) to (\S+)", self.schema["title"])[0])
                rules = [each["message"] for each in self.schema.get("x-kubernetes-validations", ())]
                return ", ".join([between, *rules])
            case Kind.LINES:
                return f"one a line, at most {self.schema['maxItems']}"
            case Kind.DURATION:
                return "such as 180d, 720h or 1d12h"
            case Kind.MOMENT:
                return "such as 2026-01-31T09:30:00Z"
            case Kind.LINE | Kind.PROSE:
                rule = self.schema.get("title", "")
                return str(rule) or (f"at most {most:,} characters" if (most := self.schema.get("maxLength")) else "")
        return ""


def value_at(document: Any, path: Path) -> Any:
    """The document's value at a path; None when it has none."""
    for step in path:
        document = document.get(step) if isinstance(document, Mapping) else None
    return document


def in_words(key: str) -> str:
    """`minDistinctSubjects` as "Min distinct subjects"."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", "TTL" if key == "ttl" else key)
    words = [part if part.isupper() and len(part) > 1 else part.lower() for part in parts]
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def is_gated(node: Node) -> bool:
    """Whether the schema says that a part is Enterprise."""
    return bool(node.get("description", "").endswith(_GATED))


def described(node: Node) -> str:
    """The schema's words for a part, without the edition."""
    return str(node.get("description", "")).removesuffix(_GATED).strip()


def _built_in(path: Path) -> Any:
    """The default of a field for which admission writes none: the one the typed view has."""
    shape: Any = PolicySpec()
    for key in path:
        known = plan(type(shape)) if is_dataclass(shape) else ()  # type: ignore[arg-type]
        name = next((each.name for each in known if each.key == key), None)
        shape = None if name is None else getattr(shape, name)
    return shape


def _typed(value: Any) -> str:
    match value:
        case None | () | "":
            return ""
        case bool():
            return "true" if value else "false"
        case timedelta():
            return format_duration(value)
    return str(value)
