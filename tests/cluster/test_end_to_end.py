"""From a page to the cluster, and from kubectl to a save (spec: How Policies Are Bound)."""

from __future__ import annotations

import pytest

from omnia.api.principal import Role
from policies.models import ServiceGroup, Workspace
from policies.services.edit import create_policy
from policies.services.policy_rows import POLICIES
from policies.services.workspace_rows import WORKSPACES
from tests.callers import caller
from tests.cluster.api import Api
from tests.cluster.conftest import Follow
from tests.cluster.waiting import eventually
from tests.contract.policy_documents import NOW, bound, policy, workspace
from tests.integration.dashboard.scene import browser_of, person
from tests.integration.dashboard.test_policies import LIST, page, send
from tests.integration.policies.actors import OPERATOR

VISIBLE_WITHIN_SECONDS = 35


@pytest.mark.django_db
def test_what_the_page_saves_is_what_kubectl_shows(in_cluster: Api) -> None:
    create_policy(policy({"tiers": {}, "gate": {"minDistinctSubjects": 3}}), actor=OPERATOR, now=NOW)
    admin = person("root")
    admin.is_superuser = True
    admin.save()
    client, address = browser_of("root"), f"{LIST}p/"
    answer = send(client, address, page(client, address), "save", **{"/spec/gate/minDistinctSubjects": "5"})
    assert answer.status_code == 302
    assert in_cluster.get("p")["spec"]["gate"]["minDistinctSubjects"] == 5


@pytest.mark.django_db(transaction=True)
def test_what_kubectl_edits_a_save_and_a_recall_obey(api: Api, following: Follow) -> None:
    api.create(policy({"write": {"maxBodyBytes": 100}}))
    api.create(workspace(bound("p"), name="acme"), plural="workspaces")
    following(POLICIES, api)
    following(WORKSPACES, api)
    eventually(lambda: ServiceGroup.objects.filter(policy_name="p").exists())
    scope = {"workspace_id": str(Workspace.objects.get().uid), "virtual_user_id": "u1"}
    client = caller(Role.OWNER)

    def saved(content: str) -> int:
        body = {"scope": scope, "type": "fact", "content": content}
        return int(client.post("/api/v1/memories", body, content_type="application/json").status_code)

    eventually(lambda: saved("a" * 101) == 400, within=VISIBLE_WITHIN_SECONDS)
    assert saved("Keeps bees") == 201
    api.patch("p", {"spec": {"write": {"maxBodyBytes": 5}}})
    eventually(lambda: saved("Likes tea") == 400, within=VISIBLE_WITHIN_SECONDS)
