"""What a check found, and where. Paths are tuples until the end, when they become JSON pointers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from omnia.core.errors import FieldProblem

Path = tuple[str | int, ...]
Node = Mapping[str, Any]
"""One level of an OpenAPI v3 structural schema."""

_LONGEST_STEP = 256


@dataclass(frozen=True, slots=True)
class Finding:
    """One violated rule at `path`.

    `judged` is the value the rule looked at: when an update leaves it as it was, the rule is waived.
    None: the rule is never waived.
    """

    path: Path
    code: str
    detail: str
    judged: Path | None

    def as_problem(self) -> FieldProblem:
        return FieldProblem(pointer=pointer(self.path), code=self.code, detail=self.detail)


def pointer(path: Path) -> str:
    """The path from the document root as an RFC 6901 pointer; overlong keys are cut."""
    return "".join(f"/{str(step)[:_LONGEST_STEP].replace('~', '~0').replace('/', '~1')}" for step in path)


def child(schema: Node, key: str) -> Node | None:
    """The schema of a property; None when the object has no such field."""
    declared: Node | None = schema.get("properties", {}).get(key)
    return schema.get("additionalProperties") if declared is None else declared
