"""An API server in memory: objects of our kinds, their history for watches, and token reviews.

It admits by the same schema as the application, so it shows how edits and the loop behave, never whether our
validation is the real one: that is what the real server is for.
"""

from __future__ import annotations

import copy
import threading
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from policies.domain.patch import merge_patch
from policies.domain.schema.crd import Crd

Document = dict[str, Any]
WITH_STATUS = frozenset(["memorypolicies"])


class Refusal(Exception):
    """An answer other than success, as a Status."""

    def __init__(self, code: int, reason: str, message: str = "", causes: tuple[dict[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        details = {"causes": list(causes)}
        self.status = {"kind": "Status", "code": code, "reason": reason, "message": message, "details": details}


@dataclass
class FakeCluster:
    """The state of the server; `fake_server` speaks HTTP for it."""

    version: int = 100
    compacted: int = 0
    epoch: int = 0
    objects: dict[tuple[str, str], Document] = field(default_factory=dict)
    history: list[tuple[int, str, str, Document]] = field(default_factory=list)
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def get(self, plural: str, name: str) -> Document:
        try:
            return self.objects[plural, name]
        except KeyError:
            raise Refusal(404, "NotFound", f'{plural} "{name}" not found') from None

    def list(self, plural: str, *, limit: int, start: int) -> Document:
        found = [each for (kind, _), each in sorted(self.objects.items()) if kind == plural]
        page = found[start : start + limit] if limit else found
        metadata = {"resourceVersion": str(self.version)}
        if start + len(page) < len(found):
            metadata["continue"] = str(start + len(page))
        return {"metadata": metadata, "items": page}

    def create(self, plural: str, body: Mapping[str, Any], *, manager: str) -> Document:
        with self.changed:
            name = body["metadata"]["name"]
            if (plural, name) in self.objects:
                raise Refusal(409, "AlreadyExists", f'{plural} "{name}" already exists')
            document = _admitted(plural, {key: value for key, value in body.items() if key != "status"}, None)
            born = {"uid": str(uuid.uuid4()), "generation": 1, "creationTimestamp": _now()}
            document["metadata"] = {**document["metadata"], **born}
            return self._put(plural, document, "ADDED", manager)

    def patch(self, plural: str, name: str, body: Mapping[str, Any], *, manager: str, status: bool) -> Document:
        with self.changed:
            held = self.get(plural, name)
            _require(held, body.get("metadata", {}))
            new = copy.deepcopy(merge_patch(held, body))
            new["metadata"] = copy.deepcopy(held["metadata"])
            kept = "spec" if status else "status"
            new = {**{key: value for key, value in new.items() if key != kept}, **_only(held, kept)}
            document = new if status else _admitted(plural, new, held["spec"]) | _only(held, "status")
            if document == held:
                return held
            document["metadata"]["generation"] += document["spec"] != held["spec"]
            return self._put(plural, document, "MODIFIED", manager, subresource="status" if status else "")

    def delete(self, plural: str, name: str, preconditions: Mapping[str, Any]) -> Document:
        with self.changed:
            held = self.get(plural, name)
            _require(held, preconditions)
            del self.objects[plural, name]
            self._record(plural, copy.deepcopy(held), "DELETED")
            return {"kind": "Status", "status": "Success"}

    def review(self, spec: Mapping[str, Any]) -> Document:
        status = self.tokens.get(spec["token"], {"authenticated": False})
        return {"kind": "TokenReview", "spec": dict(spec), "status": status}

    def after(self, plural: str, version: int) -> Iterator[tuple[str, Document]]:
        """The events after a version. Raises Refusal 410 when they are no longer kept."""
        if version < self.compacted:
            raise Refusal(410, "Expired", f"too old resource version: {version} ({self.compacted})")
        yield from ((kind, each) for at, of, kind, each in self.history if at > version and of == plural)

    def end_watches(self) -> None:
        with self.changed:
            self.epoch += 1
            self.changed.notify_all()

    def compact(self) -> None:
        """Forgets what happened, as a server does after minutes; watches from before get 410."""
        with self.changed:
            self.compacted = self.version
            self.history.clear()

    def vanish(self, plural: str, name: str) -> None:
        """An object is deleted and nobody can watch it happen any more."""
        with self.changed:
            del self.objects[plural, name]
            self.version += 1
        self.compact()

    def _put(self, plural: str, document: Document, kind: str, manager: str, *, subresource: str = "") -> Document:
        entry = {"manager": manager, "time": _now(), "operation": "Update"}
        entries = [each for each in document["metadata"].get("managedFields", ()) if each["manager"] != manager]
        document["metadata"]["managedFields"] = [*entries, entry | ({"subresource": "status"} if subresource else {})]
        self._record(plural, document, kind)
        self.objects[plural, document["metadata"]["name"]] = document
        return document

    def _record(self, plural: str, document: Document, kind: str) -> None:
        self.version += 1
        document["metadata"]["resourceVersion"] = str(self.version)
        self.history.append((self.version, plural, kind, copy.deepcopy(document)))
        self.changed.notify_all()


def _admitted(plural: str, document: Document, stored: Mapping[str, Any] | None) -> Document:
    checked = Crd.load(plural).check(document, stored=stored)
    if not checked.problems:
        return checked.document
    if any(each.code == "unknown_field" for each in checked.problems):
        raise Refusal(400, "BadRequest", "strict decoding error: unknown field")
    causes = tuple(
        {"field": each.pointer.removeprefix("/").replace("/", "."), "message": each.detail} for each in checked.problems
    )
    raise Refusal(422, "Invalid", "the document is invalid", causes)


def _require(held: Document, conditions: Mapping[str, Any]) -> None:
    for key in ("uid", "resourceVersion"):
        if conditions.get(key) not in (None, held["metadata"][key]):
            raise Refusal(409, "Conflict", "the object has been modified")


def _only(document: Document, key: str) -> Document:
    return {key: document[key]} if key in document else {}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
