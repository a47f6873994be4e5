"""Names of parametrized tests: the same in every worker, so a set is named by its members in order."""

from __future__ import annotations


def named(value: object) -> str:
    """The value as text; the order of a set's members depends on how the module was loaded."""
    if isinstance(value, (set, frozenset)):
        return str(sorted(value, key=str))
    return str(value)
