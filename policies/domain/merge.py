"""Two edits of one document brought together: what only one of them touched is taken, the rest is asked.

A three-way merge over objects; a list or a scalar is one leaf. Documents hold no null, so None stands for
"not there".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from policies.domain.schema.finding import Path, pointer


@dataclass(frozen=True, slots=True)
class Clash:
    """A place both edits changed, each to something else (an RFC 6901 pointer, and None where nothing is)."""

    pointer: str
    base: Any
    theirs: Any
    mine: Any


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged document; where the edits clash it has mine."""

    value: dict[str, Any]
    clashes: list[Clash] = field(default_factory=list)


def merge(base: Mapping[str, Any], *, theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> Merged:
    """`theirs` with what `mine` changed since `base`. No argument is changed."""
    clashes: list[Clash] = []
    merged = _together(base, theirs, mine, path=(), clashes=clashes)
    return Merged(dict(merged), clashes)


def _together(base: Any, theirs: Any, mine: Any, *, path: Path, clashes: list[Clash]) -> Any:
    if mine in (base, theirs):
        return theirs
    if theirs == base:
        return mine
    if isinstance(theirs, Mapping) and isinstance(mine, Mapping):
        before = base if isinstance(base, Mapping) else {}
        keys = {**theirs, **mine}
        found = {
            key: _together(before.get(key), theirs.get(key), mine.get(key), path=(*path, key), clashes=clashes)
            for key in keys
        }
        return {key: value for key, value in found.items() if value is not None}
    clashes.append(Clash(pointer(path), base, theirs, mine))
    return mine
