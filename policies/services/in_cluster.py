"""Edits that the API server decides: the object it returns becomes the row as an event of a watch does.

There is no second way for a row to change (architecture: with a cluster, the cluster is the only writer).
Nothing is locked while the server is asked; that the object is still the one the edit was made from is the
server's to say, by `uid` and `resourceVersion`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Generic

from django.db import transaction
from django.utils import timezone

from omnia.core.actor import Actor
from omnia.core.errors import Conflict, NotFound, OmniaError, Unavailable, Unprocessable
from policies.domain.changes import told
from policies.domain.patch import difference
from policies.domain.schema.crd import Checked
from policies.kube.errors import ClusterError, Missing, Refused, Stale, Taken
from policies.kube.port import Cluster, Document
from policies.services.mirror import mirror
from policies.services.rows import Row, Rows

log = logging.getLogger(__name__)

_WRITERS = ("name", "labels", "annotations")


class InCluster(Generic[Row]):
    """Keeps what was admitted here in the cluster, then as the row."""

    def __init__(self, rows: Rows[Row], cluster: Cluster) -> None:
        self._rows: Rows[Row] = rows
        self._cluster = cluster

    @contextmanager
    def held(self, name: str) -> Iterator[Row | None]:
        yield self._rows.find(name)

    def create(self, checked: Checked, *, actor: Actor, now: datetime) -> Row:
        with self._answered(checked.name):
            made = self._cluster.create(self._rows.plural, _as_written(checked.document))
        with transaction.atomic():
            row = mirror(self._rows, made, now=now).row
            self._rows.note("created", row, actor=actor)
        return row

    def update(self, row: Row, spec: dict[str, Any], *, actor: Actor, now: datetime) -> Row:
        made_from = {"uid": str(row.uid), "resourceVersion": row.resource_version}
        patch = {"metadata": made_from, "spec": difference(row.spec, spec)}
        with self._answered(row.name):
            made = self._cluster.patch(self._rows.plural, row.name, patch)
        with transaction.atomic():
            new = mirror(self._rows, made, now=now).row
            self._rows.note("changed", new, actor=actor, changes=told(row.spec, spec))
        return new

    def delete(self, row: Row, *, actor: Actor, with_contents: bool = False) -> None:
        if not with_contents:
            self._rows.require_removable(row)
        try:
            with self._answered(row.name):
                self._cluster.delete(self._rows.plural, row.name, uid=str(row.uid), version=row.resource_version)
        except NotFound:
            log.info("%s %s was gone from the cluster already", self._rows.noun, row.name)
        with transaction.atomic():
            self._rows.note("deleted", row, actor=actor, **self._removed(row, with_contents))

    def _removed(self, row: Row, with_contents: bool) -> dict[str, Any]:
        held = self._rows.hold(row.name)
        if held is None or held.uid != row.uid:
            return {}
        if with_contents:
            return self._rows.remove(held, with_contents=True)
        self._rows.take_leave(held)
        return {}

    @contextmanager
    def _answered(self, name: str) -> Iterator[None]:
        try:
            yield
        except Stale:
            self._catch_up(name)
            raise
        except ClusterError as error:
            raise _told(error, self._rows.noun) from None

    def _catch_up(self, name: str) -> None:
        """Brings the row to where the object is, for the edit to be judged again."""
        try:
            document: Document | None = self._cluster.get(self._rows.plural, name)
        except Missing:
            document = None
        except ClusterError as error:
            raise _told(error, self._rows.noun) from None
        with transaction.atomic():
            if document is not None:
                mirror(self._rows, document, now=timezone.now(), newest=True)
            elif row := self._rows.hold(name):
                self._rows.take_leave(row)


def _as_written(document: Document) -> Document:
    """The document without the metadata that is the server's to set."""
    metadata = {key: document["metadata"][key] for key in _WRITERS if key in document["metadata"]}
    return {**document, "metadata": metadata}


def _told(error: ClusterError, noun: str) -> OmniaError:
    match error:
        case Taken():
            return Conflict(f"A {noun} of this name exists; replace it instead.", code=f"{noun}_exists")
        case Missing():
            return NotFound(f"There is no {noun} of this name.", code=f"{noun}_not_found")
        case Refused():
            detail = "The cluster refuses the document for the reasons listed in errors."
            return Unprocessable(detail, code="invalid_document", errors=error.problems)
    log.warning("an edit of a %s did not reach the cluster: %s", noun, error)
    detail = "The cluster did not take the edit; the policies in force are unchanged. Try again in a moment."
    return Unavailable(detail, code="cluster_unavailable")
