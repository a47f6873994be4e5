"""Following the cluster: every MemoryPolicy and Workspace becomes a row, every policy gets its status.

One process at a time follows each kind, elected by a lock that PostgreSQL frees when its connection ends.
The others wait to take over. All that is written may be written twice, so a lock lost unnoticed does no harm.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any, Generic

from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone

from omnia.core.actor import Actor
from omnia.db import execute, fetch_dicts, lock_key
from policies.kube.errors import Away, ClusterError, Missing
from policies.kube.port import FIELD_MANAGER, Cluster, Document
from policies.kube.watcher import Watcher
from policies.models import MemoryPolicy
from policies.services.editing import Outcome
from policies.services.mirror import Mirrored, is_of, mirror
from policies.services.policy_rows import POLICIES
from policies.services.rows import Deed, Row, Rows
from policies.services.wire import status_object
from policies.services.workspace_rows import WORKSPACES

log = logging.getLogger(__name__)

ELECTION_SECONDS = 5.0
DATABASE_PAUSE_SECONDS = 2.0
_LEAVING_SECONDS = 10.0
_ACTOR = Actor("system:sync_policies")


def follow_cluster(cluster: Cluster, *, stop: threading.Event) -> None:
    """Follows both kinds until `stop` is set; returns early, with `stop` set, only when one cannot go on."""
    kinds: tuple[Rows[Any], ...] = (POLICIES, WORKSPACES)
    threads = [threading.Thread(target=_follow_until, args=(each, cluster, stop), daemon=True) for each in kinds]
    for thread in threads:
        thread.start()
    stop.wait()
    ends = time.monotonic() + _LEAVING_SECONDS
    while any(each.is_alive() for each in threads) and time.monotonic() < ends:
        cluster.end_watches()
        threads[0].join(0.05)
        threads[1].join(0.05)


def _follow_until(rows: Rows[Any], cluster: Cluster, stop: threading.Event) -> None:
    try:
        follow(rows, cluster, stop=stop)
    finally:
        stop.set()


def follow(rows: Rows[Row], cluster: Cluster, *, stop: threading.Event) -> None:
    """Follows one kind while elected; waits for the lock, or for the database, otherwise."""
    while not stop.is_set():
        try:
            if _elected(rows):
                log.info("%s: this process follows the cluster", rows.plural)
                Watcher(cluster, rows.plural, ClusterMirror(rows, cluster), stop).run()
            else:
                stop.wait(ELECTION_SECONDS)
        except (OperationalError, InterfaceError):
            log.warning("%s: the database is away; the lock is given up", rows.plural)
            connection.close()
            stop.wait(DATABASE_PAUSE_SECONDS)
    connection.close()


def _elected(rows: Rows[Any]) -> bool:
    """Whether this thread's connection holds the kind's lock now; it ends with the connection."""
    [row] = fetch_dicts("SELECT pg_try_advisory_lock(%(key)s::bigint) AS held", {"key": lock_key("sync", rows.plural)})
    return bool(row["held"])


class ClusterMirror(Generic[Row]):
    """Keeps the rows of one kind what the cluster says, with an audit entry for each change made elsewhere."""

    def __init__(self, rows: Rows[Row], cluster: Cluster) -> None:
        self._rows: Rows[Row] = rows
        self._cluster = cluster

    def replace(self, objects: Sequence[Document]) -> None:
        """A row that came from the cluster and is not listed goes, once the cluster has confirmed that one by one."""
        for each in objects:
            self._keep(each, newest=True)
        listed = [each["metadata"]["name"] for each in objects]
        for row in self._rows.model.objects.exclude(resource_version="").exclude(name__in=listed):
            try:
                self._keep(self._cluster.get(self._rows.plural, row.name), newest=True)
            except Missing:
                self._drop(row.name, row.uid)

    def keep(self, object: Document) -> None:
        self._keep(object)

    def drop(self, object: Document) -> None:
        row = self._rows.find(object["metadata"]["name"])
        if row is not None and is_of(row, object):
            self._drop(row.name, row.uid)

    def stand(self) -> None:
        execute("SELECT 1", {})

    def _keep(self, document: Document, *, newest: bool = False) -> None:
        try:
            with transaction.atomic():
                done = mirror(self._rows, document, now=timezone.now(), newest=newest)
                self._note(done, document)
        except (OperationalError, InterfaceError):
            raise
        except Exception:  # one object that cannot be stored must not hold up all that come after it
            log.exception("%s %s cannot be taken over", self._rows.noun, document["metadata"]["name"])
        else:
            self._report(done.row, document)

    def _note(self, done: Mirrored[Row], document: Document) -> None:
        """An edit made through this application has its entry from there, with the name of who made it."""
        writers = _last_writers(document)
        if done.outcome is not Outcome.UNCHANGED and writers != {FIELD_MANAGER}:
            deed: Deed = "created" if done.outcome is Outcome.CREATED else "changed"
            changes = {"changes": done.changes} if done.changes else {}
            self._rows.note(deed, done.row, actor=_ACTOR, managers=sorted(writers), **changes)

    def _drop(self, name: str, uid: Any) -> None:
        with transaction.atomic():
            row = self._rows.hold(name)
            if row is not None and row.uid == uid:
                self._rows.note("deleted", row, actor=_ACTOR)
                self._rows.take_leave(row)

    def _report(self, row: Row, document: Document) -> None:
        """Writes the status the row comes to, when the object does not show it yet."""
        if not isinstance(row, MemoryPolicy):
            return
        status = status_object(row)
        if row.resource_version != document["metadata"]["resourceVersion"] or document.get("status") == status:
            return
        try:
            self._cluster.patch_status(self._rows.plural, row.name, status)
        except Away:
            raise
        except ClusterError as error:  # gone meanwhile, or a right or a schema is missing: no reason to stop following
            log.warning("the status of policy %s could not be written: %s", row.name, error)


def _last_writers(document: Document) -> set[str]:
    """Who wrote the object last, status aside; times are whole seconds, so there may be several."""
    entries = [each for each in document["metadata"].get("managedFields", ()) if not each.get("subresource")]
    latest = max((each.get("time", "") for each in entries), default="")
    return {each.get("manager", "") for each in entries if each.get("time", "") == latest}
