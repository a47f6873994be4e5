"""The engine of patterns (RE2) and rules (CEL), the same languages a cluster evaluates them in.

Python's own `re` will not do for patterns: its `$` also matches before a final newline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from cel_expr_python import cel

from policies.domain.schema.finding import Finding, Node, Path

_ENVIRONMENT = cel.NewEnv(variables={"self": cel.Type.DYN, "text": cel.Type.STRING, "pattern": cel.Type.STRING})


@dataclass(frozen=True, slots=True)
class Rule:
    """One `x-kubernetes-validations` entry on the object or field at `path`."""

    path: Path
    expression: str
    message: str
    blamed: Path

    def holds(self, value: Any) -> bool:
        """Whether `value` satisfies the rule. A rule that cannot be evaluated does not hold."""
        return _is_true(self.expression, {"self": value})


def matches(text: str, *, pattern: str) -> bool:
    """Whether an RE2 pattern is found in `text`, which must hold neither NUL nor surrogates."""
    return _is_true("text.matches(pattern)", {"text": text, "pattern": pattern})


def _is_true(expression: str, data: dict[str, Any]) -> bool:
    result = _compiled(expression).eval(data=data)
    return result.type() == cel.Type.BOOL and result.value() is True


@cache
def _compiled(expression: str) -> Any:
    return _ENVIRONMENT.compile(expression)


def rules_of(schema: Node, *, path: Path = ()) -> Iterator[Rule]:
    """Every rule of a schema. They stand on fields, not on list items or map values."""
    for each in schema.get("x-kubernetes-validations", ()):
        blamed = each.get("fieldPath", "").strip(".")
        yield Rule(path, each["rule"], each["message"], (*path, blamed) if blamed else path)
    for name, inner in schema.get("properties", {}).items():
        yield from rules_of(inner, path=(*path, name))


def broken(rules: Sequence[Rule], document: Any, *, malformed: Sequence[Path]) -> Iterator[Finding]:
    """The rules `document` breaks. A rule over a malformed value is left out: it has nothing to judge."""
    for rule in rules:
        found, value = _at(document, rule.path)
        if found and not _touches(malformed, rule.path) and not rule.holds(value):
            yield Finding(rule.blamed, "rule_violated", rule.message, judged=rule.path)


def _at(document: Any, path: Path) -> tuple[bool, Any]:
    value = document
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return False, None
        value = value[step]
    return True, value


def _touches(malformed: Sequence[Path], path: Path) -> bool:
    """Whether something malformed lies at `path`, inside it, or around it."""
    return any(each[: len(path)] == path[: len(each)] for each in malformed)
