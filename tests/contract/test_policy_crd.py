"""The CRD files themselves: a cluster must read them as we do, and the typed tree must carry all they declare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_args, get_type_hints

import pytest
from cel_expr_python import cel

from policies.domain.document import PolicySpec, read_spec
from policies.domain.reading import plan
from policies.domain.schema.crd import Crd
from policies.domain.schema.rules import rules_of
from tests.contract.policy_documents import policy, problems

PLURALS = ["memorypolicies", "workspaces"]
KEYWORDS = {
    "type", "format", "title", "description", "properties", "additionalProperties", "items", "required", "enum",
    "default", "minimum", "maximum", "minLength", "maxLength", "pattern", "maxItems", "maxProperties",
    "x-kubernetes-validations", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
}  # fmt: skip
Path = tuple[str, ...]


def nodes(schema: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Every level of a schema. An item is `[]`, a map's value is `*`."""
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from nodes(inner, (*path, name))
    for step, keyword in (("[]", "items"), ("*", "additionalProperties")):
        if keyword in schema:
            yield from nodes(schema[keyword], (*path, step))


def everything() -> Iterator[Any]:
    for plural in PLURALS:
        for path, node in nodes(Crd.load(plural).schema):
            yield pytest.param(node, id=".".join((plural, *path)))


@pytest.mark.parametrize("node", list(everything()))
def test_every_level_is_structural_bounded_and_read_alike_by_a_cluster(node: Mapping[str, Any]) -> None:
    assert set(node) <= KEYWORDS
    assert node["type"] in {"object", "array", "string", "integer", "boolean"}
    if node["type"] == "array":
        assert {"items", "maxItems", "x-kubernetes-list-type"} <= set(node)
        assert ("x-kubernetes-list-map-keys" in node) == (node["x-kubernetes-list-type"] == "map")
    if node["type"] == "integer":
        assert node["format"] in {"int32", "int64"}
    if "additionalProperties" in node:
        assert "maxProperties" in node
    assert isinstance(node.get("default", ""), (str, int, bool))


@pytest.mark.parametrize("node", [each for each in everything() if "pattern" in each.values[0]])
def test_a_pattern_is_anchored_re2_without_classes_that_engines_read_differently(node: Mapping[str, Any]) -> None:
    pattern = node["pattern"]
    assert pattern.startswith("^")
    assert pattern.endswith("$")
    assert not re.search(r"\\[dwsbDWSB]|\(\?", pattern)
    matcher = cel.NewEnv(variables={"p": cel.Type.STRING}).compile("''.matches(p)")
    assert matcher.eval(data={"p": pattern}).type() == cel.Type.BOOL
    assert node["title"], "a message must say in words what the pattern demands"


@pytest.mark.parametrize("plural", PLURALS)
def test_rules_stand_on_fields_alone_and_look_at_nothing_unbounded(plural: str) -> None:
    schema = Crd.load(plural).schema
    placed = [path for path, node in nodes(schema) for _ in node.get("x-kubernetes-validations", ())]
    assert not [path for path in placed if {"[]", "*"} & set(path)]
    assert [rule.path for rule in rules_of(schema)] == placed
    for rule in rules_of(schema):
        assert "oldSelf" not in rule.expression
        for path, node in nodes(schema):
            if path[: len(rule.path)] == rule.path and node["type"] == "string":
                assert "maxLength" in node, f"{path} makes the cost of a rule unbounded"


BREAKING: dict[str, dict[str, Any]] = {
    "must be above 0.5": {"dedup": {"embeddingSimilarity": {"autoSupersedeAbove": "0.5"}}},
    "surfaceDuplicatesAbove must be less than autoSupersedeAbove": {
        "dedup": {"embeddingSimilarity": {"autoSupersedeAbove": "0.8", "surfaceDuplicatesAbove": "0.8"}}
    },
    "multiplicative must be set when tierPrecedence is": {"tierPrecedence": {}},
    "overlap must be less than size": {"ingestion": {"chunk": {"size": 30}}},
}


def test_each_rule_is_broken_by_some_document() -> None:
    assert {rule.message for rule in Crd.load("memorypolicies").rules} == set(BREAKING)
    for spec in BREAKING.values():
        assert list(problems(spec).values()) == ["rule_violated"]


# --- The typed tree -----------------------------------------------------------------------------

LEAVES = {
    path: node
    for path, node in nodes(Crd.load("memorypolicies").schema["properties"]["spec"])
    if node["type"] not in ("object", "array")
}


def sample(node: Mapping[str, Any]) -> Any:
    """A value a leaf takes, different from its default."""
    if node["type"] == "boolean":
        return not node.get("default", False)
    if node["type"] == "integer":
        return min(node["maximum"], max(node["minimum"], 7))
    if "enum" in node:
        return node["enum"][-1]
    if node.get("format") == "date-time":
        return "2026-05-01T00:00:00Z"
    for candidate in ("0.75", "36h", "1 2 3 4 5", "word"):
        if re.fullmatch(node.get("pattern", ".*"), candidate):
            return candidate
    raise AssertionError(node)


def around(path: Path, value: Any) -> Any:
    """A spec that holds `value` at `path` and, beside it, what its objects require."""
    if not path:
        return value
    inner = around(path[1:], value)
    if path[0] == "[]":
        required = {"name": "a name", "kind": "logical"} if isinstance(inner, dict) else None
        return [inner if required is None else required | inner]
    return {path[0]: inner} if path[0] != "namespace" else {"name": "word", path[0]: inner}


@pytest.mark.parametrize("path", LEAVES, ids=".".join)
def test_the_typed_tree_carries_every_leaf_of_the_crd(path: Path) -> None:
    value = sample(LEAVES[path])
    assert read_spec(around(path, value)) != read_spec(around(path[:-1], {} if path[-1] != "[]" else []))


def declared(shape: Any, path: Path = ()) -> Iterator[Path]:
    """Every leaf of the typed tree, under the CRD's names."""
    for field in plan(shape):
        yield from _unfolded(get_type_hints(shape)[field.name], (*path, field.key))


def _unfolded(hint: Any, path: Path) -> Iterator[Path]:
    inner = [each for each in get_args(hint) if each not in (type(None), str, ...)]
    if isinstance(hint, type) and is_dataclass(hint):
        yield from declared(hint, path)
    elif getattr(hint, "__origin__", None) is tuple:
        yield from _unfolded(get_args(hint)[0], (*path, "[]"))
    elif getattr(hint, "__origin__", None) is Mapping:
        yield from _unfolded(get_args(hint)[1], (*path, "*"))
    elif inner:
        yield from _unfolded(inner[0], path)
    else:
        yield path


def test_the_typed_tree_has_no_leaf_the_crd_does_not_declare() -> None:
    assert set(declared(PolicySpec)) == set(LEAVES)


def test_the_defaults_admission_writes_are_the_ones_the_typed_tree_has() -> None:
    for path, node in LEAVES.items():
        if "default" in node:
            stated = read_spec(around(path, node["default"]))
            assert stated == read_spec(around(path[:-1], {})), path


def test_every_field_of_the_tree_has_a_default_but_names() -> None:
    shapes = set(_shapes(PolicySpec))
    bare = {
        field.name
        for shape in shapes
        for field in fields(shape)
        if field.default is MISSING and field.default_factory is MISSING
    }
    assert bare == {"name", "kind"}


def _shapes(shape: Any) -> Iterator[Any]:
    yield shape
    for hint in get_type_hints(shape).values():
        for each in (hint, *get_args(hint)):
            if isinstance(each, type) and is_dataclass(each):
                yield from _shapes(each)


def test_the_document_around_a_spec_is_valid() -> None:
    assert not Crd.load("memorypolicies").check(policy()).problems
