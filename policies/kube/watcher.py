"""Follows one kind of object: a list, then a watch that goes on where the last one ended.

Lists again only at the start, after 410 Gone, and when told to; a stream that merely ends is resumed from the
last version seen, bookmarks included. While the API server is away nothing is told to the mirror, so what was
known last stays known, for ever if need be.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from policies.kube.errors import ClusterError, Gone
from policies.kube.port import Cluster, Document, Event, Plural

log = logging.getLogger(__name__)

SHORTEST_PAUSE, LONGEST_PAUSE = 0.2, 30.0
_TOO_SHORT_A_WATCH = 1.0


class Mirror(Protocol):
    """What keeps a copy of the objects of one kind."""

    def replace(self, objects: Sequence[Document]) -> None:
        """These are all there are now."""
        ...

    def keep(self, object: Document) -> None:
        """This one is there now, as it stands here."""
        ...

    def drop(self, object: Document) -> None:
        """This one is gone."""
        ...

    def stand(self) -> None:
        """Raises when the copy is no longer ours to write; called at every sign of life."""
        ...


@dataclass
class Watcher:
    """Tells `mirror` about every object of `plural` until `stop` is set. Errors of the mirror go through."""

    cluster: Cluster
    plural: Plural
    mirror: Mirror
    stop: threading.Event
    _version: str | None = field(default=None, init=False)
    _pause: float = field(default_factory=lambda: SHORTEST_PAUSE, init=False)
    _away: bool = field(default=False, init=False)

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                self._follow()
            except Gone:
                self._version = None
                self.stop.wait(SHORTEST_PAUSE)
            except ClusterError as error:
                if not self.stop.is_set():
                    self._wait_out(error)

    def _follow(self) -> None:
        version = self._version or self._list()
        begun = time.monotonic()
        for event in self.cluster.watch(self.plural, version=version):
            self._tell(event)
            if self.stop.is_set():
                return
        self._heard()
        if time.monotonic() - begun < _TOO_SHORT_A_WATCH:  # a server that hangs up at once is not to be hammered
            self.stop.wait(SHORTEST_PAUSE)

    def _list(self) -> str:
        listing = self.cluster.list(self.plural)
        self.mirror.replace(listing.objects)
        self._version = listing.version
        self._heard()
        return listing.version

    def _tell(self, event: Event) -> None:
        if event.kind == "DELETED":
            self.mirror.drop(event.object)
        elif event.kind != "BOOKMARK":
            self.mirror.keep(event.object)
        self._version = event.version
        self._heard()

    def _heard(self) -> None:
        self.mirror.stand()
        self._pause = SHORTEST_PAUSE
        if self._away:
            self._away = False
            log.info("%s: the API server answers again", self.plural)

    def _wait_out(self, error: ClusterError) -> None:
        if not self._away:
            self._away = True
            log.warning("%s: the API server is away (%s); the last known ones stay in force", self.plural, error)
        self.stop.wait(self._pause * random.uniform(0.8, 1.2))  # noqa: S311 - spreads retries, guards nothing
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        self.mirror.stand()
