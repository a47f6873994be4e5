"""The manifests: valid for the API, tight by default, and rights that suffice for the work and reach no further."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from django.test import Client
from kubernetes import client

from policies.kube.client import KubernetesCluster
from policies.kube.current import use
from policies.kube.errors import Denied
from policies.models import MemoryPolicy
from policies.services.edit import create_policy, delete_policy, patch_policy
from policies.services.policy_rows import POLICIES
from policies.services.sync import ClusterMirror
from tests.cluster.api import Api
from tests.cluster.control_plane import ControlPlane
from tests.cluster.installed import BASE, ROOT, apply, documents
from tests.contract.policy_documents import NOW, policy
from tests.integration.policies.actors import OPERATOR

NAMESPACE = "omnia-memory"
KUBERNETES = "1.37"


def files(folder: Path = BASE) -> Iterator[Path]:
    """What a kustomization names, bases first as they come."""
    for name in yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]:
        at = (folder / name).resolve()
        yield from files(at) if at.is_dir() else [at]


MANIFESTS = list(documents(*files()))
DEPLOYMENTS = {each["metadata"]["name"]: each["spec"] for each in MANIFESTS if each["kind"] == "Deployment"}


def called(document: dict[str, Any]) -> str:
    return f"{document['kind']}/{document['metadata']['name']}"


def containers() -> Iterator[Any]:
    for name, deployment in DEPLOYMENTS.items():
        pod = deployment["template"]["spec"]
        for each in (*pod.get("initContainers", ()), *pod["containers"]):
            yield pytest.param(pod, each, id=f"{name}/{each['name']}")


@pytest.mark.parametrize("document", MANIFESTS, ids=called)
def test_a_manifest_is_valid(document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, KUBERNETES, strict=True)


def test_a_manifest_that_is_not_valid_is_found() -> None:
    broken = {**MANIFESTS[-1], "spec": {"podSelecter": {}}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, KUBERNETES, strict=True)


def test_every_file_of_the_folder_is_used() -> None:
    assert {each for each in files() if each.parent == BASE} == set(BASE.glob("*.yaml")) - {BASE / "kustomization.yaml"}


def test_there_is_one_deployment_for_each_process() -> None:
    assert {name: each["template"]["spec"]["containers"][0]["args"] for name, each in DEPLOYMENTS.items()} == {
        name: [name] for name in ("web", "mcp", "worker", "beat", "sync")
    }
    usage = (ROOT / "deploy/entrypoint").read_text()
    assert all(f"\n{name})" in usage or f"| {name} " in usage for name in DEPLOYMENTS)


@pytest.mark.parametrize(("pod", "container"), list(containers()))
def test_a_container_may_nothing_it_does_not_need(pod: dict[str, Any], container: dict[str, Any]) -> None:
    assert pod["securityContext"] | {"fsGroup": 0} == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "fsGroup": 0,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["requests"].keys() == container["resources"]["limits"].keys() == {"cpu", "memory"}
    assert not any("hostPath" in each for each in pod["volumes"])


@pytest.mark.parametrize("name", ["web", "mcp"])
def test_what_answers_http_is_probed_scaled_and_never_disrupted_at_once(name: str) -> None:
    [container] = DEPLOYMENTS[name]["template"]["spec"]["containers"]
    probes = {key: container[f"{key}Probe"]["httpGet"]["path"] for key in ("startup", "liveness", "readiness")}
    assert probes == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}
    kinds = {each["kind"] for each in MANIFESTS if each["metadata"]["name"] == name}
    assert kinds >= {"Service", "HorizontalPodAutoscaler", "PodDisruptionBudget"}


def test_the_clock_runs_once() -> None:
    assert (DEPLOYMENTS["beat"]["replicas"], DEPLOYMENTS["beat"]["strategy"]) == (1, {"type": "Recreate"})


def test_only_who_asks_the_api_server_has_a_token() -> None:
    shown = {name: each["template"]["spec"]["automountServiceAccountToken"] for name, each in DEPLOYMENTS.items()}
    assert shown == {"web": True, "mcp": True, "sync": True, "worker": False, "beat": False}
    accounts = [each for each in MANIFESTS if each["kind"] == "ServiceAccount"]
    assert not any(each["automountServiceAccountToken"] for each in accounts)


def test_the_network_is_closed_but_for_what_is_named() -> None:
    [closed] = [each for each in MANIFESTS if called(each) == "NetworkPolicy/default-deny"]
    assert closed["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@pytest.mark.django_db
def test_a_probe_by_the_pods_address_is_answered(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["web.omnia-memory"]
    assert Client(headers={"Host": "10.1.2.3:8000"}).get("/healthz").status_code == 200
    assert Client(headers={"Host": "10.1.2.3:8000"}).get("/readyz").status_code == 200


# --- In front of the real server ----------------------------------------------------------------

RIGHTS = {
    "web": {
        *(("omnia.altairalabs.ai", kind, verb) for kind in ("memorypolicies", "workspaces")
          for verb in ("get", "create", "patch", "delete")),
        ("authentication.k8s.io", "tokenreviews", "create"),
    },
    "mcp": {("authentication.k8s.io", "tokenreviews", "create")},
    "sync": {
        *(("omnia.altairalabs.ai", kind, verb) for kind in ("memorypolicies", "workspaces")
          for verb in ("get", "list", "watch")),
        ("omnia.altairalabs.ai", "memorypolicies/status", "patch"),
    },
    "background": set(),
}  # fmt: skip


@pytest.fixture(scope="session")
def installed(plane: ControlPlane) -> ControlPlane:
    """The base, as an operator applies it; the kinds of object are there already."""
    for each in MANIFESTS:
        if each["kind"] != "CustomResourceDefinition":
            apply(plane.connect(), each)
    nobody = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "nobody", "namespace": NAMESPACE}}
    apply(plane.connect(), nobody)
    return plane


def token_of(plane: ControlPlane, account: str) -> str:
    core: Any = client.CoreV1Api(plane.connect())
    request: dict[str, Any] = {"spec": {"expirationSeconds": 600}}
    made = core.create_namespaced_service_account_token(account, NAMESPACE, request, _request_timeout=10)
    return str(made.status.token)


def as_account(plane: ControlPlane, account: str) -> KubernetesCluster:
    return KubernetesCluster(partial(plane.connect, token_of(plane, account)), watch_seconds=1)


def rights_of(plane: ControlPlane, account: str) -> set[tuple[str, str, str]]:
    """Group, resource and verb of all that an account may do with objects."""
    reviews: Any = client.AuthorizationV1Api(plane.connect(token_of(plane, account)))
    review = {"spec": {"namespace": NAMESPACE}}
    rules = reviews.create_self_subject_rules_review(review, _request_timeout=10).status.resource_rules
    return {right for each in rules for right in itertools.product(each.api_groups, each.resources, each.verbs)}


@pytest.mark.cluster
@pytest.mark.parametrize("account", RIGHTS)
def test_an_account_may_exactly_what_its_process_does(account: str, installed: ControlPlane) -> None:
    assert rights_of(installed, account) - rights_of(installed, "nobody") == RIGHTS[account]


@pytest.mark.cluster
@pytest.mark.django_db
def test_the_rights_suffice_for_an_edit_and_its_status(installed: ControlPlane, real: Api) -> None:
    web, sync = as_account(installed, "web"), as_account(installed, "sync")
    with use(web):
        create_policy(policy(), actor=OPERATOR, now=NOW)
        patch_policy("p", {"spec": {"write": {"maxBodyBytes": 7}}}, actor=OPERATOR, now=NOW)
    following = ClusterMirror(POLICIES, sync)
    listing = sync.list("memorypolicies")
    following.replace(listing.objects)
    assert real.get("p")["status"]["phase"] == "Active"
    assert list(sync.watch("memorypolicies", version=listing.version))
    with use(web):
        delete_policy("p", actor=OPERATOR)
    assert not MemoryPolicy.objects.exists()
    assert web.review_token("no.such.token", audiences=["memory"]).authenticated is False
    with pytest.raises(Denied):
        sync.create("memorypolicies", policy())
    with pytest.raises(Denied):
        web.list("memorypolicies")
