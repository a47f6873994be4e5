"""What the application asks of a cluster, in its own words: the port that `client.py` fills.

Objects are the documents as the API server holds them. Every call ends within a fixed time and raises a
kind of `policies.kube.errors` when it did not come about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Document = dict[str, Any]
Plural = Literal["memorypolicies", "workspaces"]

FIELD_MANAGER = "omnia-memory"
"""Who wrote a field, as the API server notes it for the edits made through this application."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Every object of a kind, and the version of the whole from which a watch goes on."""

    objects: list[Document]
    version: str


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a watch. A BOOKMARK's object holds nothing but the version reached."""

    kind: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    object: Document

    @property
    def version(self) -> str:
        return str(self.object["metadata"]["resourceVersion"])


@dataclass(frozen=True, slots=True)
class Review:
    """What the API server says of a bearer token. `audiences` are those of ours it was made for."""

    authenticated: bool
    username: str
    audiences: frozenset[str]


class Cluster(Protocol):
    """An API server that knows our two kinds of object."""

    def get(self, plural: Plural, name: str) -> Document: ...

    def create(self, plural: Plural, document: Mapping[str, Any]) -> Document: ...

    def patch(self, plural: Plural, name: str, patch: Mapping[str, Any]) -> Document:
        """Lays a merge patch over the object; a `uid` and `resourceVersion` in it must still hold."""
        ...

    def delete(self, plural: Plural, name: str, *, uid: str, version: str) -> None: ...

    def patch_status(self, plural: Plural, name: str, status: Mapping[str, Any]) -> Document: ...

    def list(self, plural: Plural) -> Listing: ...

    def watch(self, plural: Plural, *, version: str) -> Iterator[Event]:
        """What happens after `version`, until the server ends the stream."""
        ...

    def end_watches(self) -> None:
        """Ends the streams that are open now, from another thread than the one that reads them."""
        ...

    def review_token(self, token: str, *, audiences: Sequence[str]) -> Review: ...
