"""What an edit changed, leaf by leaf, as the audit trail shows it before and after (reference: Audit)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

MOST = 200
"""An edit that touches more leaves is told by the first of them; the document itself has its generation."""


@dataclass(frozen=True, slots=True)
class Change:
    """One leaf: where it stands (RFC 6901), and its values; None where it was not or is no longer there."""

    pointer: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        return {"pointer": self.pointer, "before": _short(self.before), "after": _short(self.after)}


def told(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What an edit of a spec changed, for the trail."""
    return [each.as_json() for each in islice(changes(before, after, pointer="/spec"), MOST)]


def changes(before: Any, after: Any, *, pointer: str = "") -> Iterator[Change]:
    """Every leaf that differs, by its pointer. A list is one leaf."""
    if isinstance(before, Mapping) or isinstance(after, Mapping):
        old, new = _mapping(before), _mapping(after)
        if old is not None and new is not None:
            for key in sorted(old.keys() | new.keys()):
                yield from changes(old.get(key), new.get(key), pointer=f"{pointer}/{_escaped(key)}")
            return
    if before != after:
        yield Change(pointer, before, after)


def _mapping(value: Any) -> Mapping[str, Any] | None:
    """A value read as a block; what is not there is an empty one."""
    return {} if value is None else value if isinstance(value, Mapping) else None


def _short(value: Any) -> Any:
    """A long list by how long it is."""
    return f"{len(value)} entries" if isinstance(value, list) and len(value) > MOST else value


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
