"""One draft behind the form, the YAML and the list of changes.

It travels with the page, not with the session: the spec the edit began from, the document as YAML text, and
the fields of the form laid over it. Two windows are two drafts, an expired session loses none, and saving
compares with what the edit began from. The YAML keeps every character typed until the form changes a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from omnia.core.errors import BadInput
from policies.dashboard.fields import Field, Kind, Path, value_at
from policies.dashboard.sections import fields_of
from policies.domain.manifest import dump_document, load_documents
from policies.domain.schema.crd import Crd
from policies.domain.schema.finding import Node, child
from policies.domain.schema.order import in_order
from policies.models import MemoryPolicy

EMPTY_SPEC: dict[str, Any] = {"tiers": {}}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a text is no document; `line` counts from 1."""

    detail: str
    line: int


@dataclass(frozen=True)
class Draft:
    """`base`: the spec the edit began from."""

    base: dict[str, Any]
    text: str

    @staticmethod
    def of(row: MemoryPolicy) -> Draft:
        """A draft that changes nothing yet."""
        return Draft(row.spec, dump_document(document_of(row.name, row.spec)))

    @staticmethod
    def new(name: str = "", spec: Mapping[str, Any] = EMPTY_SPEC) -> Draft:
        """A draft of a policy that does not exist, with the fields of another or none."""
        return Draft(dict(spec), dump_document(document_of(name, spec)))

    @staticmethod
    def received(posted: Mapping[str, str]) -> Draft:
        """The draft a page sent back. Raises BadInput when it is not one of ours."""
        base = _read(posted.get("base", ""))
        if not isinstance(base, dict) or "draft" not in posted:
            raise BadInput("The form holds no draft; reload the page.", code="invalid_draft")
        return Draft(base, posted["draft"].replace("\r\n", "\n")).laid(posted)

    @cached_property
    def read(self) -> dict[str, Any] | Fault:
        """The document the text holds, or why it holds none."""
        try:
            found = load_documents(self.text)
        except BadInput as error:
            where = re.search(r"line ([0-9]+)", error.detail)
            return Fault(error.detail, int(where[1]) if where else 1)
        if len(found) != 1 or not isinstance(found[0], dict) or not isinstance(found[0].get("spec", {}), dict):
            return Fault("The text must hold one MemoryPolicy object with its fields under spec.", 1)
        return found[0]

    @property
    def document(self) -> dict[str, Any]:
        """The document; empty when the text holds none."""
        return {} if isinstance(self.read, Fault) else self.read

    @property
    def base_document(self) -> dict[str, Any]:
        """What the edit began from, under the name the draft has."""
        return self.document | {"spec": self.base}

    @property
    def base_json(self) -> str:
        return json.dumps(self.base)

    def holding(self, document: Mapping[str, Any]) -> Draft:
        """The draft with another document; the text stays as typed when it says the same."""
        return self if document == self.document else replace(self, text=dump_document(arranged(document)))

    def laid(self, posted: Mapping[str, str]) -> Draft:
        """The draft with the posted fields that differ from it; every other leaf stays as it is."""
        document = self.document
        for field in fields_of(document):
            given = posted.get(field.pointer)
            if given is not None and not isinstance(self.read, Fault):
                given = given.replace("\r\n", "\n")
                if given != shown(field, self.document):
                    document = placed(document, field.path, entered(field, given), base={"spec": self.base})
        name = posted.get("/metadata/name")
        if name is not None and name != value_at(document, ("metadata", "name")):
            document = placed(document, ("metadata", "name"), _UNSTORABLE.sub("", name), base={})
        return self.holding(document)

    def put(self, path: Path, value: Any) -> Draft:
        """The draft with `value` at a place; None removes what is there."""
        return self.holding(placed(self.document, path, value, base={"spec": self.base}))

    def undone(self, path: Path) -> Draft:
        """The draft with a place as it was when the edit began."""
        return self.put(path, value_at({"spec": self.base}, path))

    def added(self, path: Path) -> Draft:
        """The draft with an empty object where nothing is; what only wraps another object is not left empty."""
        if value_at(self.document, path) is not None:
            return self
        node: Node = Crd.load("memorypolicies").schema
        for step in path:
            node = child(node, step) or {}
        return self.put(path, _blank(node))


def document_of(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The document an editor shows: what its writer may set, in the schema's order."""
    return Crd.load("memorypolicies").document(name, spec)


def arranged(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same document with its keys in the schema's order, unknown ones last."""
    return dict(in_order(document, Crd.load("memorypolicies").schema))


def shown(field: Field, document: Mapping[str, Any]) -> str:
    """What stands in a field for this document."""
    value = value_at(document, field.path)
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list() if field.kind is Kind.LINES and all(isinstance(each, str) for each in value):
            return "\n".join(value).replace("\r\n", "\n")
        case dict() | list():
            return json.dumps(value)
    return str(value).replace("\r\n", "\n")


def entered(field: Field, text: str) -> Any:
    """The value a text in a field stands for; None for none. What cannot be read stays the text it is.

    Characters that no document can hold are left out.
    """
    text = _UNSTORABLE.sub("", text)
    text = text if field.kind is Kind.PROSE else text.strip()
    match field.kind:
        case Kind.LINES:
            return [line.strip() for line in text.split("\n") if line.strip()] or None
        case Kind.FLAG if text in ("true", "false"):
            return text == "true"
        case Kind.WHOLE if _WHOLE.fullmatch(text):
            return int(text)
    return text or None


def placed(tree: Any, path: Path, value: Any, *, base: Any) -> dict[str, Any]:
    """A copy of `tree` with `value` at `path`; None removes, and with it objects it leaves empty that `base` lacks."""
    key, rest = path[0], path[1:]
    new = dict(tree) if isinstance(tree, Mapping) else {}
    below = base.get(key) if isinstance(base, Mapping) else None
    inner = placed(new.get(key), rest, value, base=below) if rest else value
    if inner is None or (rest and inner == {} and value is None and below is None):
        new.pop(key, None)
    else:
        new[key] = inner
    return new


def _blank(node: Node) -> dict[str, Any]:
    fields = node.get("properties", {})
    if len(fields) == 1:
        ((key, inner),) = fields.items()
        return {key: _blank(inner)} if inner["type"] == "object" else {}
    return {}


def _read(text: str) -> Any:
    try:
        return load_documents(text)[0]
    except (BadInput, IndexError):
        return None
