"""`deny_cel`: a caller's own filter over what a search may answer, in CEL, bounded and failing closed.

The engine cannot be interrupted while it evaluates, so the bounds are structural: the expression is checked once,
by its tree, and the values it sees are measured on every call. Whatever does not come to a clean `false` denies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cel_expr_python import cel

from memories.domain.cel_tree import (
    Call,
    Constant,
    Items,
    Loop,
    Name,
    Node,
    Select,
    Struct,
    UnreadableExpression,
    tree_of,
)
from omnia.core.errors import BadInput, FieldProblem
from omnia.core.scope import Tier

LONGEST = 2_000
"""Characters of an expression."""
MOST_NODES, MOST_LOOPS, LONGEST_PATTERN = 200, 4, 120
LONGEST_VALUE, MOST_VALUES = 1_024, 256
_FUNCTIONS = frozenset(
    {"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_&&_", "_||_", "!_", "_?_:_", "@in", "_[_]", "-_", "size", "double",
     "@not_strictly_false", "startsWith", "endsWith", "contains", "matches", "int", "string", "timestamp", "duration"}
)  # fmt: skip
_NAMES = frozenset({"metadata", "category", "tier", "kind", "source"})
"""What an expression may speak of; `kind` is the memory's type, `source` its source type."""
_ENVIRONMENT = cel.NewEnv(variables=dict.fromkeys(sorted(_NAMES), cel.Type.DYN))


@dataclass(frozen=True, slots=True)
class DenyRule:
    """A checked expression."""

    program: Any

    @staticmethod
    def of(source: str) -> DenyRule:
        """Raises BadInput `deny_cel_invalid` for an expression that is none, or is outside the bounds."""
        if len(source) > LONGEST:
            raise _invalid(f"the expression may have at most {LONGEST} characters")
        try:
            program = _ENVIRONMENT.compile(source)
        except Exception as error:  # noqa: BLE001 - the engine names no classes; a text it refuses is the caller's
            why = (str(error).splitlines() or ["it is not CEL"])[0][:300]
            raise _invalid(f"{why}; known are {', '.join(sorted(_NAMES))}") from None
        if program.return_type() not in (cel.Type.BOOL, cel.Type.DYN):
            raise _invalid("the expression must come to true or false")
        try:
            _Check().node(tree_of(program.serialize()), names=_NAMES, looping=False)
        except UnreadableExpression as error:
            raise _invalid(str(error)) from None
        return DenyRule(program)

    def denies(self, memory: Mapping[str, Any]) -> bool:
        """Whether a row is withheld: by the expression, by an error in it, or because a value is beyond the bounds."""
        data = {
            "metadata": memory["metadata"],
            "category": memory["consent_category"] or "",
            "tier": Tier.from_code(memory["tier"]).value,
            "kind": memory["type"],
            "source": memory["source_type"],
        }
        if not _measured(memory["metadata"]):
            return True
        try:
            result = self.program.eval(data=data)
            return not (result.type() == cel.Type.BOOL and result.value() is False)
        except Exception:  # noqa: BLE001 - a row whose evaluation errs is denied, whatever the engine raises
            return True


class _Check:
    """Walks a tree, counting."""

    def __init__(self) -> None:
        self._nodes = self._loops = 0

    def node(self, node: Node, *, names: frozenset[str], looping: bool) -> None:
        """Raises BadInput `deny_cel_invalid`. `names` are known here; inside a loop there is no other."""
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise _invalid("the expression is too large; split the question")
        match node:
            case Name(name) if name not in names:
                raise _invalid(f"there is no {name[:60]} here; known are {', '.join(sorted(_NAMES))}")
            case Select(of):
                self.node(of, names=names, looping=looping)
            case Call(function, arguments):
                _check_call(function, arguments)
                for each in arguments:
                    self.node(each, names=names, looping=looping)
            case Items(items):
                for each in items:
                    self.node(each, names=names, looping=looping)
            case Struct():
                raise _invalid("map literals are not allowed")
            case Loop():
                self._loop(node, names=names, looping=looping)

    def _loop(self, loop: Loop, *, names: frozenset[str], looping: bool) -> None:
        self._loops += 1
        if looping or self._loops > MOST_LOOPS:
            raise _invalid(f"at most {MOST_LOOPS} macros such as exists() are allowed, and none inside another")
        self.node(loop.over, names=names, looping=looping)
        for each in loop.body:
            self.node(each, names=names | loop.names, looping=True)
        self.node(loop.result, names=names | loop.names, looping=looping)


def _check_call(function: str, arguments: tuple[Node, ...]) -> None:
    if function not in _FUNCTIONS:
        raise _invalid(f"{function.strip('_@')} is not allowed here")
    if function != "matches":
        return
    pattern = arguments[1].text if len(arguments) == 2 and isinstance(arguments[1], Constant) else None
    if pattern is None or len(pattern) > LONGEST_PATTERN or "{" in pattern:
        raise _invalid(f"matches() takes a literal pattern of at most {LONGEST_PATTERN} characters, without counts")


def _measured(metadata: Any) -> bool:
    """Whether the metadata is small enough to be judged."""
    if not isinstance(metadata, Mapping) or len(metadata) > MOST_VALUES:
        return False
    texts = [*metadata.keys(), *metadata.values()]
    return all(not isinstance(each, str) or len(each) <= LONGEST_VALUE for each in texts)


def took_too_long() -> BadInput:
    """What an expression is refused with that is within the bounds and still too slow for the rows at hand."""
    return _invalid("it takes too long on these memories; ask for something simpler")


def _invalid(detail: str) -> BadInput:
    return BadInput(
        f"deny_cel: {detail}.",
        code="deny_cel_invalid",
        errors=[FieldProblem("/deny_cel", "deny_cel_invalid", detail)],
    )
