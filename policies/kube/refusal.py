"""An API server's refusal in our form: its field paths as JSON pointers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from omnia.core.errors import FieldProblem
from policies.domain.schema.finding import pointer

_STEP = re.compile(r"\[([^]]*)]|([^.[]+)")


def problems_of(status: Mapping[str, Any]) -> tuple[FieldProblem, ...]:
    """One problem per cause of a Status; none when it names no field."""
    details = status.get("details")
    causes = details.get("causes") if isinstance(details, Mapping) else None
    return tuple(
        FieldProblem(pointer(_path(str(each["field"]))), "refused_by_cluster", str(each.get("message", "is refused")))
        for each in causes or ()
        if each.get("field")
    )


def _path(field: str) -> tuple[str | int, ...]:
    """`spec.types[0].name` or `spec.map[a.b]` as a path from the document's root."""
    return tuple(_steps(field))


def _steps(field: str) -> Iterator[str | int]:
    for bracketed, plain in _STEP.findall(field):
        yield plain or (int(bracketed) if bracketed.isdecimal() else bracketed)
