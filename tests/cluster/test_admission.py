"""Our validator against the API server's own: the same documents are taken, with the same defaults."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
import urllib3

from policies.domain.patch import difference
from policies.domain.schema.crd import Crd
from policies.kube.client import GROUP, VERSION
from policies.kube.port import Plural
from tests.cluster import corpus
from tests.cluster.api import Api
from tests.cluster.control_plane import ControlPlane
from tests.cluster.installed import CRDS, documents, replace_crd
from tests.cluster.waiting import eventually
from tests.contract.policy_documents import policy
from tests.contract.test_policy_sections import LEGACY, UPDATES

pytestmark = pytest.mark.cluster

STRICTER = {
    "/metadata/namespace unknown_field": "the server drops it without a word; a policy has none (spec: Scope)",
    "/spec/gate/canaries/clearedAt bad_format": "the server takes a moment of the year 0 in UTC, which is none",
    "/spec/gate/canaries/clearedAt wrong_type": "the server does not look into a list where a date-time belongs",
}
"""What we refuse and the API server takes, and why that is meant to be. There is nothing the other way round."""

CORPUS: dict[Plural, list[dict[str, Any]]] = {"memorypolicies": corpus.policies(), "workspaces": corpus.workspaces()}


class Server:
    """Dry runs against the real server, on one connection."""

    def __init__(self, plane: ControlPlane) -> None:
        self._http = urllib3.HTTPSConnectionPool(
            "127.0.0.1", int(plane.url.rpartition(":")[2]), ca_certs=str(plane.certificate), timeout=10, retries=False
        )
        self._headers = {"Authorization": f"Bearer {plane.token}"}

    def create(self, plural: str, document: object) -> tuple[int, Any]:
        return self._ask("POST", plural, document, "application/json")

    def patch(self, name: str, patch: object) -> tuple[int, Any]:
        return self._ask("PATCH", f"memorypolicies/{name}", patch, "application/merge-patch+json")

    def _ask(self, method: str, path: str, body: object, kind: str) -> tuple[int, Any]:
        url = f"/apis/{GROUP}/{VERSION}/{path}?dryRun=All&fieldValidation=Strict"
        answer = self._http.request(method, url, json=body, headers=self._headers | {"Content-Type": kind})
        return answer.status, answer.json()


@pytest.fixture
def server(plane: ControlPlane, real: Api) -> Server:
    return Server(plane)


@pytest.mark.parametrize("plural", CORPUS)
def test_every_document_is_judged_as_the_api_server_judges_it(plural: Plural, server: Server) -> None:
    differences = [
        (document, ours, theirs) for document in CORPUS[plural] for ours, theirs in _verdicts(server, plural, document)
    ]
    assert not differences, f"{len(differences)} of {len(CORPUS[plural])}, the first: {differences[:5]}"


def test_the_corpus_has_many_of_either_kind() -> None:
    judged = [not Crd.load("memorypolicies").check(each).problems for each in CORPUS["memorypolicies"]]
    assert judged.count(True) > 200
    assert judged.count(False) > 200


def _verdicts(server: Server, plural: Plural, document: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Nothing when both say the same: refused, or the spec as it is stored."""
    checked = Crd.load(plural).check(document)
    ours = checked.spec if not checked.problems else [f"{each.pointer} {each.code}" for each in checked.problems]
    code, answer = server.create(plural, document)
    theirs = answer["spec"] if code == 201 else [answer["message"]]
    agreed = ours == theirs or (isinstance(ours, list) and isinstance(theirs, list))
    if not agreed and not (isinstance(ours, list) and STRICTER.keys() >= set(ours)):
        yield ours, theirs


@contextmanager
def _lax_schema(plane: ControlPlane, server: Server) -> Iterator[None]:
    """For a while the server takes any text where the schema has rules: how a policy from before them came to be."""
    [strict] = documents(CRDS[0])
    lax = copy.deepcopy(strict)
    rules = lax["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    rules["dedup"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    replace_crd(plane.connect(), _schema_of(lax))
    eventually(lambda: server.create("memorypolicies", policy(LEGACY))[0] == 201)
    try:
        yield
    finally:
        replace_crd(plane.connect(), _schema_of(strict))
        eventually(lambda: server.create("memorypolicies", policy(LEGACY, name="new"))[0] == 422)


def _schema_of(crd: Mapping[str, Any]) -> dict[str, Any]:
    """Versions are a list, which a merge patch replaces as a whole."""
    return {"metadata": {"name": crd["metadata"]["name"]}, "spec": {"versions": crd["spec"]["versions"]}}


def test_a_policy_from_before_a_rule_stays_editable_where_the_api_server_lets_it(
    plane: ControlPlane, server: Server, real: Api
) -> None:
    with _lax_schema(plane, server):
        stored = real.create(policy(LEGACY))["spec"]
    for update, taken in UPDATES:
        code, answer = server.patch("p", {"spec": difference(stored, policy(update)["spec"])})
        assert (code == 200) == taken, (update, answer)
