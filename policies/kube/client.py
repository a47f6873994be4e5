"""The cluster over the official client, and the only importer of `kubernetes`.

Every call states its timeout in seconds, connecting and reading apart, and is never repeated by the library:
what may be repeated is for the caller to say. A 401 is met once by reading the credentials again, because a
projected token is replaced on disk before the one in memory ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, Literal

import orjson
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from policies.kube.errors import Away, ClusterError, Denied, Gone, Missing, Refused, Stale, Taken
from policies.kube.port import FIELD_MANAGER, Document, Event, Listing, Plural, Review
from policies.kube.refusal import problems_of

GROUP, VERSION = "omnia.altairalabs.ai", "v1alpha1"
CONNECT_SECONDS = 3.0
ANSWER = (CONNECT_SECONDS, 10.0)
LIST = (CONNECT_SECONDS, 30.0)
REVIEW = (2.0, 3.0)
WATCH_SECONDS = 300
SILENCE_SECONDS = 90.0
"""Longer than the minute between two bookmarks: a stream silent for so long is a dead one."""
_PAGE = 200
_MERGE_PATCH = "application/merge-patch+json"


class KubernetesCluster:
    """One API server. Safe to share between threads; connects at the first call."""

    def __init__(self, connect: Callable[[], client.ApiClient], *, watch_seconds: int = WATCH_SECONDS) -> None:
        self._connect, self._watch_seconds = connect, watch_seconds
        self._lock = threading.Lock()
        self._api: client.ApiClient | None = None
        self._streams: set[Any] = set()

    def get(self, plural: Plural, name: str) -> Document:
        return self._object("get_cluster_custom_object", plural, name)

    def create(self, plural: Plural, document: Mapping[str, Any]) -> Document:
        return self._object("create_cluster_custom_object", plural, dict(document), **_WRITE)

    def patch(self, plural: Plural, name: str, patch: Mapping[str, Any]) -> Document:
        return self._object("patch_cluster_custom_object", plural, name, dict(patch), **_WRITE, **_AS_MERGE)

    def delete(self, plural: Plural, name: str, *, uid: str, version: str) -> None:
        only = {"preconditions": {"uid": uid, "resourceVersion": version}}
        self._objects("delete_cluster_custom_object", plural, name, body=only)

    def patch_status(self, plural: Plural, name: str, status: Mapping[str, Any]) -> Document:
        patch = {"status": dict(status)}
        return self._object("patch_cluster_custom_object_status", plural, name, patch, **_WRITE, **_AS_MERGE)

    def list(self, plural: Plural) -> Listing:
        objects: list[Document] = []
        page: dict[str, Any] = {}
        while True:
            answer = self._objects(_LIST, plural, limit=_PAGE, timeout=LIST, **page)
            objects += answer["items"]
            if not answer["metadata"].get("continue"):
                return Listing(objects, answer["metadata"]["resourceVersion"])
            page = {"_continue": answer["metadata"]["continue"]}

    def watch(self, plural: Plural, *, version: str) -> Iterator[Event]:
        stream = self._objects(
            _LIST,
            plural,
            watch=True,
            resource_version=version,
            allow_watch_bookmarks=True,
            timeout_seconds=self._watch_seconds,
            timeout=(CONNECT_SECONDS, SILENCE_SECONDS),
            _preload_content=False,
        )
        self._streams.add(stream)
        try:
            with closing(stream):
                yield from map(_event, _lines(stream))
        finally:
            self._streams.discard(stream)

    def end_watches(self) -> None:
        for stream in tuple(self._streams):
            with suppress(OSError, RuntimeError, ValueError):  # it may be ending by itself at this moment
                stream.shutdown()

    def review_token(self, token: str, *, audiences: Sequence[str]) -> Review:
        spec = client.V1TokenReviewSpec(token=token, audiences=list(audiences))
        review = client.V1TokenReview(spec=spec)
        status = self._call(
            lambda api: client.AuthenticationV1Api(api).create_token_review(review, _request_timeout=REVIEW)
        ).status
        user = status.user if status.authenticated else None
        return Review(bool(status.authenticated), user.username if user else "", frozenset(status.audiences or ()))

    def _object(self, operation: str, plural: Plural, *arguments: Any, **options: Any) -> Document:
        answer: Document = self._objects(operation, plural, *arguments, **options)
        return answer

    def _objects(
        self, operation: str, plural: Plural, *arguments: Any, timeout: tuple[float, float] = ANSWER, **options: Any
    ) -> Any:
        def ask(api: client.ApiClient) -> Any:
            call = getattr(client.CustomObjectsApi(api), operation)
            return call(GROUP, VERSION, plural, *arguments, _request_timeout=timeout, **options)

        return self._call(ask)

    def _call(self, ask: Callable[[client.ApiClient], Any]) -> Any:
        try:
            return _translated(ask, self._client())
        except _Unauthorized:
            return _translated(ask, self._client(fresh=True))

    def _client(self, *, fresh: bool = False) -> client.ApiClient:
        with self._lock:
            if self._api is None or fresh:
                self._api = self._connect()
            return self._api


_LIST = "list_cluster_custom_object"
_WRITE: dict[str, Any] = {"field_manager": FIELD_MANAGER, "field_validation": "Strict"}
_AS_MERGE: dict[str, Any] = {"_content_type": _MERGE_PATCH}


def connect(mode: Literal["in-cluster", "kubeconfig"]) -> client.ApiClient:
    """A client with the credentials of the pod, or of the current context of KUBECONFIG. Raises Away without any."""
    settings = client.Configuration()
    load = config.load_incluster_config if mode == "in-cluster" else config.load_kube_config
    try:
        load(client_configuration=settings)
    except (config.ConfigException, OSError) as error:
        raise Away(f"no credentials for the cluster: {error}") from None
    settings.retries = False
    return client.ApiClient(settings)


class _Unauthorized(Away):
    """401: our own credentials are no longer good."""


def _translated(ask: Callable[[client.ApiClient], Any], api: client.ApiClient) -> Any:
    try:
        return ask(api)
    except ApiException as error:
        raise _failure(error.status, error.body) from None
    except (HTTPError, OSError) as error:
        raise Away(f"{type(error).__name__}: no answer") from None


def _failure(code: int, body: str | bytes | None) -> ClusterError:
    """The kind of error of an answer that is none."""
    status = _status(body)
    message = f"{code} {status.get('reason', '')}"
    match code, status.get("reason"):
        case 401, _:
            return _Unauthorized(message)
        case 403, _:
            return Denied(message)
        case 404, _:
            return Missing(message)
        case 409, "AlreadyExists":
            return Taken(message)
        case 409, _:
            return Stale(message)
        case 410, _:
            return Gone(message)
        case ((400 | 422), _):
            return Refused(str(status.get("message", message)), problems_of(status))
    return Away(message)


def _status(body: str | bytes | None) -> dict[str, Any]:
    try:
        status = orjson.loads(body or b"")
    except orjson.JSONDecodeError:
        return {}
    return status if isinstance(status, dict) else {}


def _lines(stream: Any) -> Iterator[bytes]:
    rest = b""
    try:
        for chunk in stream.stream(amt=None, decode_content=False):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line for line in whole if line.strip())
    except (HTTPError, OSError) as error:
        raise Away(f"{type(error).__name__}: the watch ended") from None


def _event(line: bytes) -> Event:
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise Away("a line of the watch is no JSON") from None
    if event["type"] == "ERROR":
        raise _failure(event["object"].get("code", 500), orjson.dumps(event["object"]))
    return Event(event["type"], event["object"])
