"""An API server as a test uses it: what the application asks of it, and someone else with kubectl's rights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kubernetes import client

from policies.kube.client import GROUP, VERSION, KubernetesCluster
from policies.kube.port import Plural
from tests.cluster.fake_server import FakeServer

KUBECTL = "kubectl-edit"
SHORT_WATCH = 1


@dataclass
class Api:
    """`fake` is the fake behind it, or None in front of the real server."""

    connect: Callable[[], client.ApiClient]
    fake: FakeServer | None = None

    @property
    def cluster(self) -> KubernetesCluster:
        return KubernetesCluster(self.connect, watch_seconds=SHORT_WATCH)

    def create(self, document: dict[str, Any], *, plural: Plural = "memorypolicies") -> dict[str, Any]:
        return self._object("create", plural, document, field_manager=KUBECTL)

    def patch(self, name: str, patch: dict[str, Any], *, plural: Plural = "memorypolicies") -> dict[str, Any]:
        merge = {"_content_type": "application/merge-patch+json"}
        return self._object("patch", plural, name, patch, field_manager=KUBECTL, **merge)

    def get(self, name: str, *, plural: Plural = "memorypolicies") -> dict[str, Any]:
        return self._object("get", plural, name)

    def delete(self, name: str, *, plural: Plural = "memorypolicies") -> None:
        self._call("delete", plural, name)

    def clear(self) -> None:
        for plural in ("memorypolicies", "workspaces"):
            for each in self._call("list", plural)["items"]:
                self._call("delete", plural, each["metadata"]["name"])

    def _object(self, verb: str, *arguments: Any, **options: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self._call(verb, *arguments, **options)
        return answer

    def _call(self, verb: str, plural: str, *arguments: Any, **options: Any) -> Any:
        call = getattr(client.CustomObjectsApi(self.connect()), f"{verb}_cluster_custom_object")
        return call(GROUP, VERSION, plural, *arguments, _request_timeout=10, **options)


def plain(url: str, *, bearer: str | None = None) -> client.ApiClient:
    """A client of a server over plain HTTP."""
    settings = client.Configuration()
    settings.host, settings.retries = url, False
    if bearer is not None:
        settings.api_key["BearerToken"] = f"Bearer {bearer}"
    return client.ApiClient(settings)
