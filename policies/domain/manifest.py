"""Reading policy files: YAML or JSON, read so that one text has one meaning.

YAML as a cluster takes it, made safe: only true and false are booleans, times stay texts, and what two
readers could understand differently (a repeated key, NaN) or what grows without end (aliases, depth) is
refused. Merge keys do not exist here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

import yaml

from omnia.core.errors import BadInput

DEEPEST = 64
LONGEST = 400_000
"""Characters of YAML, which is read slowly: what is longer is not looked into at all."""
MOST_VALUES = 100_000
LARGEST_INTEGER = 2**63 - 1
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_TOO_MUCH = f"it may hold {MOST_VALUES} values, {DEEPEST} levels deep, with aliases written out"
_JSON_SPACE = " \t\r\n"


def load_documents(text: str) -> list[Any]:
    """The documents of a file, separated by `---`; empty ones are left out.

    Raises BadInput `invalid_manifest` saying where and why the text cannot be read.
    """
    documents = [each for each in _parse(text) if each is not None]
    for value in documents:
        _refuse_unbounded(value)
    return documents


def _parse(text: str) -> list[Any]:
    try:
        if text.lstrip(_JSON_SPACE).startswith(("{", "[")):
            return [json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)]
    except json.JSONDecodeError:
        pass  # flow-style YAML, or several documents, begins like JSON too
    except (ValueError, RecursionError) as error:
        raise _unreadable(error) from None
    if len(text) > LONGEST:
        raise BadInput(f"The text has more than {LONGEST} characters.", code="invalid_manifest")
    try:
        return list(yaml.load_all(text, Loader=_Loader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _unreadable(error) from None


def _unreadable(error: Exception) -> BadInput:
    match error:
        case yaml.MarkedYAMLError(problem=str(problem), problem_mark=yaml.Mark() as mark):
            why = f"line {mark.line + 1}, column {mark.column + 1}: {problem}"
        case RecursionError():
            why = f"it nests deeper than {DEEPEST} levels"
        case yaml.YAMLError():
            why = "it is not valid YAML"
        case _:
            why = str(error)
    return BadInput(f"The text cannot be read: {why}.", code="invalid_manifest")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_number(_name: str) -> Any:
    raise ValueError("NaN and Infinity are not numbers here")


def _refuse_unbounded(document: Any) -> None:
    """Walks without recursion, counting an aliased value each time it is used."""
    waiting, values = [(document, 1)], 0
    while waiting:
        value, depth = waiting.pop()
        values += 1
        if depth > DEEPEST or values > MOST_VALUES:
            raise _unreadable(ValueError(_TOO_MUCH))
        if isinstance(value, str) and _UNSTORABLE.search(value):
            raise BadInput("The text holds NUL or a lone surrogate.", code="invalid_manifest")
        if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
            raise BadInput("The text holds a number beyond 64 bits.", code="invalid_manifest")
        waiting.extend((each, depth + 1) for each in _inside(value))


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value
        yield from value.values()
    elif isinstance(value, list):
        yield from value


class _Loader(yaml.SafeLoader):
    """The types JSON has, recognised as YAML 1.2's core schema does. Other tags are unknown here.

    Nodes are counted as they are met: this reader takes 20 µs for each, so a refusal must not wait for the last.
    """

    _nodes = 0

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    yaml_constructors: ClassVar[dict[str | None, Callable[..., Any]]] = {
        f"tag:yaml.org,2002:{name}": yaml.SafeLoader.yaml_constructors[f"tag:yaml.org,2002:{name}"]
        for name in ("null", "bool", "str", "seq")
    } | {None: yaml.SafeLoader.yaml_constructors[None]}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._nodes += 1
        if self._nodes > MOST_VALUES:
            raise ValueError(_TOO_MUCH)
        composed: yaml.Node | None = super().compose_node(parent, index)
        return composed

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a text", key.start_mark)
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, "a key stands twice", key.start_mark)
            seen.add(key.value)
        values = (self.construct_object(value, deep=deep) for _key, value in node.value)
        return dict(zip((key.value for key, _value in node.value), values, strict=True))

    def construct_mapping_node(self, node: yaml.MappingNode) -> Iterator[dict[Any, Any]]:
        data: dict[Any, Any] = {}
        yield data
        data.update(self.construct_mapping(node))

    def construct_number(self, node: yaml.ScalarNode) -> float:
        if node.value.lower().lstrip("+-") in (".nan", ".inf"):
            raise yaml.constructor.ConstructorError(
                None, None, "NaN and infinity are not numbers here", node.start_mark
            )
        return float(node.value)

    def construct_whole(self, node: yaml.ScalarNode) -> int:
        return int(node.value)


_CORE = (
    ("tag:yaml.org,2002:null", r"~|null|Null|NULL|", ("~", "n", "N", "")),
    ("tag:yaml.org,2002:bool", r"true|True|TRUE|false|False|FALSE", tuple("tTfF")),
    ("tag:yaml.org,2002:int", r"[-+]?[0-9]+", tuple("-+0123456789")),
    (
        "tag:yaml.org,2002:float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        tuple("-+.0123456789"),
    ),
)
for _tag, _pattern, _first in _CORE:
    _Loader.add_implicit_resolver(_tag, re.compile(rf"(?:{_pattern})\Z", re.ASCII), list(_first))
_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.construct_mapping_node)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_whole)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_number)


class _Dumper(yaml.SafeDumper):
    """Writes what `_Loader` and any other reader take for the same: a text that looks like a number is quoted."""

    def represent_moment(self, moment: datetime) -> yaml.Node:
        return self.represent_str(moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))

    def ignore_aliases(self, data: Any) -> bool:
        return True


for _tag, _pattern, _first in _CORE:
    _Dumper.add_implicit_resolver(_tag, re.compile(rf"(?:{_pattern})\Z", re.ASCII), list(_first))
_Dumper.add_representer(datetime, _Dumper.represent_moment)


def dump_document(document: Mapping[str, Any]) -> str:
    """The document as YAML, its keys in their order; `load_documents` reads it back as it was."""
    return str(yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120))
