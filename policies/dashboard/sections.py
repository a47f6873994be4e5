"""The policy form's sections and groups, in the custom resource schema's order.

What the form does not show is told as such and is edited as YAML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policies.dashboard.fields import Field, Path, described, in_words, is_gated, value_at
from policies.domain.schema.crd import Crd
from policies.domain.schema.finding import Node, pointer

NOT_IN_FORM = frozenset({"/spec/schema", "/spec/gate/allowedTerms", "/spec/recall/graphExpansion"})
"""Saved back as they are (spec: How Policies Are Bound)."""

_STEP = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "


@dataclass(frozen=True, slots=True)
class NotShown:
    """A part of the document that the form keeps as it is."""

    path: Path
    help: str
    enterprise: bool

    @property
    def label(self) -> str:
        return in_words(self.path[-1])


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring leaves of one object. `entry`: it is one of a map; `grows`: it is the map, and takes new entries."""

    path: Path
    help: str = ""
    fields: tuple[Field, ...] = ()
    not_shown: tuple[NotShown, ...] = ()
    entry: Path = ()
    grows: bool = False

    @property
    def id(self) -> str:
        return f"{pointer(self.path)}:{self.fields[0].key if self.fields else ''}"

    @property
    def pointer(self) -> str:
        return pointer(self.path)

    @property
    def entry_pointer(self) -> str:
        return pointer(self.entry)

    @property
    def title(self) -> str:
        """The way from the section to here, an entry by its own name."""
        named = len(self.entry) - 1
        steps = [step if at == named else in_words(step) for at, step in enumerate(self.path)]
        return _STEP.join(steps[2:] or steps[1:])


@dataclass(frozen=True, slots=True)
class Section:
    """One object of the spec."""

    path: Path
    help: str
    groups: tuple[Group, ...]

    @property
    def key(self) -> str:
        return self.path[-1]

    @property
    def pointer(self) -> str:
        return pointer(self.path)

    @property
    def title(self) -> str:
        return in_words(self.key)


def sections_of(document: Mapping[str, Any]) -> list[Section]:
    """Every section of a policy; where the document has entries of a map, their fields too."""
    spec = Crd.load("memorypolicies").schema["properties"]["spec"]
    return [_section(("spec", key), node, document) for key, node in spec["properties"].items()]


def fields_of(document: Mapping[str, Any]) -> Iterator[Field]:
    """Every field the form shows for this document."""
    for section in sections_of(document):
        for group in section.groups:
            yield from group.fields


def _section(path: Path, node: Node, document: Mapping[str, Any]) -> Section:
    gated = is_gated(node)
    if pointer(path) in NOT_IN_FORM:
        return Section(path, described(node), (Group(path, not_shown=(NotShown(path, described(node), gated),)),))
    return Section(path, described(node), tuple(_groups(path, node, document, gated, ())))


def _groups(path: Path, node: Node, document: Mapping[str, Any], gated: bool, entry: Path) -> Iterator[Group]:
    """The leaves of an object between its inner objects, each run of them a group of its own."""
    leaves: list[Field] = []
    hidden: list[NotShown] = []

    def run() -> Iterator[Group]:
        if leaves or hidden:
            yield Group(path, described(node), tuple(leaves), tuple(hidden), entry)
        leaves.clear()
        hidden.clear()

    for key, inner in node["properties"].items():
        at = (*path, key)
        if pointer(at) in NOT_IN_FORM:
            hidden.append(NotShown(at, described(inner), gated or is_gated(inner)))
        elif inner["type"] != "object":
            leaves.append(Field(at, inner, gated or is_gated(inner)))
        else:
            yield from run()
            yield from _inner(at, inner, document, gated or is_gated(inner), entry)
    yield from run()


def _inner(path: Path, node: Node, document: Mapping[str, Any], gated: bool, entry: Path) -> Iterator[Group]:
    if "additionalProperties" not in node:
        yield from _groups(path, node, document, gated, entry)
        return
    held = value_at(document, path)
    for name in held if isinstance(held, Mapping) else ():
        at = (*path, str(name))
        yield from _groups(at, node["additionalProperties"], document, gated, at)
    yield Group(path, described(node), grows=True)
