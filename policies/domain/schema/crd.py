"""The CRD files as validators: prune, default, structure, rules, and on an update ratcheting."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain, islice
from typing import Any

import yaml

from omnia.core.errors import FieldProblem
from policies.domain.schema.finding import Finding, Node
from policies.domain.schema.order import in_order
from policies.domain.schema.prune import prune
from policies.domain.schema.ratchet import unchanged
from policies.domain.schema.rules import Rule, broken, rules_of
from policies.domain.schema.structure import check

MOST_PROBLEMS = 100
"""More than this in one answer helps nobody."""

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_LONGEST_NAME = 253
_METADATA = frozenset(
    [
        "name",
        "uid",
        "generation",
        "resourceVersion",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
        "managedFields",
        "generateName",
        "selfLink",
    ]
)


def is_name(text: object) -> bool:
    """Whether `text` may name an object: a DNS subdomain (RFC 1123)."""
    return isinstance(text, str) and len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None


def name_in(document: object) -> str:
    """The name a document gives itself, checked or not; empty when it gives none that could be one."""
    metadata = document.get("metadata") if isinstance(document, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return str(name) if is_name(name) else ""


@dataclass(frozen=True, slots=True)
class Checked:
    """A document as it would be stored, and what speaks against storing it."""

    document: dict[str, Any]
    problems: tuple[FieldProblem, ...]

    @property
    def name(self) -> str:
        return str(self.document["metadata"]["name"])

    @property
    def spec(self) -> dict[str, Any]:
        return dict(self.document["spec"])


@dataclass(frozen=True, slots=True)
class Crd:
    """One kind of object and the schema of its only version."""

    api_version: str
    kind: str
    schema: Node
    rules: tuple[Rule, ...]

    @staticmethod
    @cache
    def load(plural: str) -> Crd:
        """The CRD in `crd/<plural>.yaml`."""
        spec = yaml.safe_load((files("policies") / "crd" / f"{plural}.yaml").read_text(encoding="utf-8"))["spec"]
        version = spec["versions"][0]
        schema = version["schema"]["openAPIV3Schema"]
        return Crd(
            api_version=f"{spec['group']}/{version['name']}",
            kind=spec["names"]["kind"],
            schema=schema,
            rules=tuple(rules_of(schema)),
        )

    def document(self, name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        """The object as a file has it: what its writer may set, in the schema's order."""
        metadata = {"name": name}
        given = {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata, "spec": dict(spec)}
        return dict(in_order(given, self.schema))

    def check(self, document: object, *, stored: Mapping[str, Any] | None = None) -> Checked:
        """Judges a whole document; `stored` is the spec it would replace.

        Never raises, whatever the document is. A `status` is dropped: it is not the writer's to set.
        """
        if not isinstance(document, dict):
            return Checked({}, (FieldProblem("", "wrong_type", f"must be a {self.kind} object"),))
        unknown: list[Finding] = []
        given = {key: value for key, value in document.items() if key != "status"}
        pruned: dict[str, Any] = prune(given, self.schema, unknown=unknown)
        found = chain(self._identity(pruned), unknown, self._faults(pruned, stored))
        return Checked(pruned, tuple(each.as_problem() for each in islice(found, MOST_PROBLEMS)))

    def _faults(self, document: dict[str, Any], stored: Mapping[str, Any] | None) -> Iterator[Finding]:
        old = None if stored is None else prune({"spec": dict(stored)}, self.schema, unknown=[])

        def stands(each: Finding) -> bool:
            return old is None or each.judged is None or not unchanged(each.judged, document, old, schema=self.schema)

        malformed = list(islice(filter(stands, check(document, self.schema)), MOST_PROBLEMS))
        yield from malformed
        yield from filter(stands, broken(self.rules, document, malformed=[each.path for each in malformed]))

    def _identity(self, document: dict[str, Any]) -> Iterator[Finding]:
        """What the schema leaves open: which kind of object this is, and its metadata."""
        for key, wanted in (("apiVersion", self.api_version), ("kind", self.kind)):
            given = document.get(key, "")
            if isinstance(given, str) and given != wanted:
                yield Finding((key,), "not_allowed", f"must be {wanted}", judged=None)
        metadata = document.get("metadata", {})
        if isinstance(metadata, dict):
            yield from self._metadata(metadata)

    def _metadata(self, metadata: dict[str, Any]) -> Iterator[Finding]:
        for key in sorted(metadata.keys() - _METADATA, key=str):
            why = (
                f"is not a field here; a {self.kind} is cluster-scoped" if key == "namespace" else "is not a field here"
            )
            yield Finding(("metadata", key), "unknown_field", why, judged=None)
        if not is_name(metadata.get("name")):
            detail = f"must be a lower-case DNS name of at most {_LONGEST_NAME} characters, such as basic or team-a.eu"
            yield Finding(("metadata", "name"), "bad_format", detail, judged=None)
