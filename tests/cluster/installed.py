"""What an operator applies to the cluster, applied to the one under test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client, dynamic

from policies.kube.client import GROUP, VERSION
from tests.cluster.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
CRDS = [ROOT / f"policies/crd/{plural}.yaml" for plural in ("memorypolicies", "workspaces")]
BASE = ROOT / "deploy/base"


def documents(*files: Path) -> Iterator[dict[str, Any]]:
    for each in files:
        yield from (document for document in yaml.safe_load_all(each.read_text()) if document)


def install_crds(api: client.ApiClient) -> None:
    crds: Any = client.ApiextensionsV1Api(api)
    for document in documents(*CRDS):
        crds.create_custom_resource_definition(document, _request_timeout=10)
        eventually(partial(_served, api, document["spec"]["names"]["plural"]))


def replace_crd(api: client.ApiClient, document: dict[str, Any]) -> None:
    """Puts another schema in place of the one there is."""
    crds, name = client.ApiextensionsV1Api(api), document["metadata"]["name"]
    crds.patch_custom_resource_definition(
        name, document, _content_type="application/merge-patch+json", _request_timeout=10
    )


def apply(api: client.ApiClient, document: Mapping[str, Any], **options: Any) -> Any:
    """Creates one object of any kind, strictly."""
    kind = dynamic.DynamicClient(api).resources.get(api_version=document["apiVersion"], kind=document["kind"])
    namespace = {"namespace": document["metadata"].get("namespace")} if kind.namespaced else {}
    return kind.create(body=document, query_params=[("fieldValidation", "Strict")], **namespace, **options)


def _served(api: client.ApiClient, plural: str) -> bool:
    try:
        client.CustomObjectsApi(api).list_cluster_custom_object(GROUP, VERSION, plural, _request_timeout=10)
    except client.ApiException:
        return False
    return True
