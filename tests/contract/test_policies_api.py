"""/policies and /workspaces: whole documents, entity tags, JSON and YAML (design: Policies, workspaces; security K 218, 219)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
import yaml
from django.test import Client

from omnia.api.principal import Role
from omnia.audit.models import AuditRow
from policies.api.media import LARGEST_YAML
from policies.domain.schema.crd import Crd
from policies.models import MemoryPolicy, Workspace
from policies.services.access import clear_cache
from tests.callers import caller
from tests.support import opened_store, select

pytestmark = pytest.mark.django_db

SPEC = {"tiers": {"user": {"ttl": {"default": "180d"}}}}
BOUND = {"services": [{"name": "default", "memory": {"policyRef": {"name": "basic"}}}]}
MERGE = "application/merge-patch+json"
YAML = "application/yaml"


@dataclass
class Api:
    """One caller's requests for documents."""

    client: Client

    def send(self, method: str, path: str, body: Any = None, *, status: int, kind: str = "application/json",
             **headers: str) -> Any:  # fmt: skip
        text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
        answer = self.client.generic(method, f"/api/v1/{path}", text, content_type=kind, headers=headers)
        assert answer.status_code == status, answer.content[:800]
        return answer

    def make(self, path: str, name: str, spec: Any, *, status: int = 201) -> Any:
        return self.send("POST", path, {"metadata": {"name": name}, "spec": spec}, status=status).json()

    def show(self, path: str, *, status: int = 200) -> Any:
        return self.send("GET", path, status=status).json()

    def tag(self, path: str) -> str:
        return str(self.send("GET", path, status=200)["ETag"])


@pytest.fixture
def admin() -> Api:
    clear_cache()
    return Api(caller(Role.PLATFORM_ADMIN))


class TestPolicies:
    def test_a_policy_is_made_shown_and_listed(self, admin: Api) -> None:
        made = admin.make("policies", "basic", SPEC)
        UUID(made["metadata"]["uid"])
        assert (made["apiVersion"], made["kind"]) == ("omnia.altairalabs.ai/v1alpha1", "MemoryPolicy")
        assert (made["metadata"]["name"], made["metadata"]["generation"], made["bindings"]) == ("basic", 1, [])
        assert made["spec"] == SPEC
        assert made["status"]["phase"] == "Active"
        assert admin.show("policies/basic") == made
        assert admin.show("policies") == {"items": [made], "next": None}
        assert admin.tag("policies/basic") == f'"{made["metadata"]["uid"]}:1"'

    def test_a_taken_name_is_a_conflict(self, admin: Api) -> None:
        admin.make("policies", "basic", SPEC)
        assert admin.make("policies", "basic", SPEC, status=409)["code"] == "policy_exists"

    def test_what_was_read_can_be_put_back(self, admin: Api) -> None:
        admin.make("workspaces", "w", BOUND)
        read = admin.make("policies", "basic", SPEC)
        assert read["bindings"] == [{"workspace": "w", "workspace_uid": str(Workspace.objects.get().uid),
                                     "service_group": "default"}]  # fmt: skip
        read["spec"]["write"] = {"maxBodyBytes": 100}
        tag = admin.tag("policies/basic")
        answer = admin.send("PUT", "policies/basic", read, status=200, **{"If-Match": tag})
        assert answer.json()["spec"]["write"] == {"maxBodyBytes": 100}
        assert answer["ETag"] == tag.replace(":1", ":2")

    def test_a_patch_names_what_changes(self, admin: Api) -> None:
        admin.make("policies", "basic", SPEC | {"write": {"maxBodyBytes": 100}})
        patch: dict[str, Any] = {"spec": {"write": None, "tiers": {"agent": {}}}}
        patched = admin.send("PATCH", "policies/basic", patch, status=200, kind=MERGE, **{"If-Match": "*"}).json()
        assert patched["spec"] == {"tiers": SPEC["tiers"] | {"agent": {}}}

    def test_a_patch_comes_as_yaml_too_and_what_the_server_adds_is_left_out(self, admin: Api) -> None:
        admin.make("policies", "basic", SPEC)
        patch = "spec: {write: {maxBodyBytes: 5}}\nstatus: {phase: Error}\nbindings: []\n"
        patched = admin.send("PATCH", "policies/basic", patch, status=200, kind=YAML, **{"If-Match": "*"}).json()
        assert patched["spec"] == SPEC | {"write": {"maxBodyBytes": 5}}
        assert (patched["status"]["phase"], patched["status"]["observedGeneration"]) == ("Active", 2)

    def test_a_spec_is_shown_in_the_order_of_the_schema(self, admin: Api) -> None:
        made = admin.make("policies", "basic", {"write": {}, "gate": {}, "dedup": {}, "recall": {}, "tiers": {}})
        declared = Crd.load("memorypolicies").schema["properties"]["spec"]["properties"]
        assert list(made["spec"]) == [key for key in declared if key in made["spec"]]

    def test_a_list_for_a_patch_is_refused(self, admin: Api) -> None:
        """Security case 239: JSON patch is another language."""
        admin.make("policies", "basic", SPEC)
        body = [{"op": "remove", "path": "/spec"}]
        admin.send("PATCH", "policies/basic", body, status=400, kind=MERGE, **{"If-Match": "*"})
        admin.send("PATCH", "policies/basic", body, status=415, kind="application/json-patch+json", **{"If-Match": "*"})

    def test_each_broken_rule_is_told_with_its_place(self, admin: Api) -> None:
        spec = {"recall": {"maxRelatedPerMemory": 51}, "write": {"maxBodyBytes": -1}}
        refused = admin.make("policies", "basic", spec, status=422)
        assert {each["pointer"] for each in refused["errors"]} == {
            "/spec/tiers", "/spec/recall/maxRelatedPerMemory", "/spec/write/maxBodyBytes"}  # fmt: skip
        assert not MemoryPolicy.objects.exists()

    def test_a_policy_goes_and_the_audit_says_so(self, admin: Api) -> None:
        admin.make("policies", "basic", SPEC)
        admin.send("DELETE", "policies/basic", status=200, **{"If-Match": admin.tag("policies/basic")})
        admin.show("policies/basic", status=404)
        events = list(
            AuditRow.objects.filter(event__startswith="policy_").order_by("id").values_list("event", flat=True)
        )
        assert events == ["policy_created", "policy_deleted"]

    def test_pages_follow_one_another(self, admin: Api) -> None:
        for number in range(5):
            admin.make("policies", f"p{number}", SPEC)
        names, path = [], "policies?limit=2"
        while path:
            page = admin.show(path)
            names += [each["metadata"]["name"] for each in page["items"]]
            path = f"policies?limit=2&cursor={page['next']}" if page["next"] else ""
        assert names == [f"p{number}" for number in range(5)]


@pytest.mark.parametrize("path", ["policies", "workspaces"])
class TestEntityTags:
    def made(self, admin: Api, path: str) -> str:
        admin.make(path, "x", SPEC if path == "policies" else {})
        return f"{path}/x"

    @pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
    def test_a_write_says_what_it_read(self, admin: Api, path: str, method: str) -> None:
        one = self.made(admin, path)
        assert admin.send(method, one, {}, status=428).json()["code"] == "if_match_required"

    @pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
    @pytest.mark.parametrize("tag", ['"x"', "x", 'W/"x"', '"00000000-0000-0000-0000-000000000000:1"'])
    def test_a_stale_one_is_refused_with_the_current(self, admin: Api, path: str, method: str, tag: str) -> None:
        one = self.made(admin, path)
        body = {"metadata": {"name": "x"}, "spec": SPEC if path == "policies" else {}}
        refused = admin.send(method, one, body, status=412, **{"If-Match": tag})
        assert refused["ETag"] == admin.tag(one)

    def test_the_second_of_two_writers_is_told(self, admin: Api, path: str) -> None:
        """Security case 238."""
        one = self.made(admin, path)
        tag = admin.tag(one)
        change = {"spec": {"write": {"maxBodyBytes": 5}} if path == "policies" else {"displayName": "A"}}
        admin.send("PATCH", one, change, status=200, **{"If-Match": tag})
        admin.send("PATCH", one, change, status=412, **{"If-Match": tag})

    def test_nothing_is_there_under_another_name(self, admin: Api, path: str) -> None:
        admin.show(f"{path}/nothing", status=404)
        for method in ("PUT", "PATCH", "DELETE"):
            body = {"metadata": {"name": "nothing"}, "spec": SPEC if path == "policies" else {}}
            admin.send(method, f"{path}/nothing", body, status=404, **{"If-Match": "*"})


class TestYaml:
    DOCUMENT = "metadata: {name: basic}\nspec:\n  tiers:\n    user: {ttl: {default: 180d}}\n"

    def test_in_and_out(self, admin: Api) -> None:
        admin.send("POST", "policies", self.DOCUMENT, status=201, kind=YAML)
        answer = admin.send("GET", "policies/basic", status=200, Accept=YAML)
        assert answer["Content-Type"].startswith(YAML)
        shown = yaml.safe_load(answer.content)
        assert shown == json.loads(json.dumps(admin.show("policies/basic")))
        tag = {"If-Match": admin.tag("policies/basic")}
        admin.send("PUT", "policies/basic", answer.content.decode(), status=200, kind=YAML, **tag)

    @pytest.mark.parametrize("accept", ["", "*/*", "application/json, application/yaml", "text/html"])
    def test_json_unless_it_is_asked_for(self, admin: Api, accept: str) -> None:
        assert admin.send("GET", "policies", status=200, Accept=accept)["Content-Type"].startswith("application/json")

    @pytest.mark.parametrize(
        "text",
        ["a: 1\na: 2", "- 1", "{", "a: &x [1]\n" + "b: *x\n" * 3 + "---\nc: 1", "", "a: .nan", "!!python/object:os.system {}",
         "a: &a [*a]", "&a [" + "*a," * 9 + "]", "x: &x {y: 1}\nz: {<<: *x}"],
    )  # fmt: skip
    def test_what_two_readers_read_differently_is_refused(self, admin: Api, text: str) -> None:
        answer = admin.client.post("/api/v1/policies", text, content_type=YAML)
        assert answer.status_code in (400, 422)
        assert not MemoryPolicy.objects.exists()

    def test_a_body_no_cluster_would_take_is_refused_unread(self, admin: Api) -> None:
        large = "a: 1\n#" + "x" * LARGEST_YAML
        assert admin.send("POST", "policies", large, status=413, kind=YAML).json()["code"] == "too_large"

    def test_who_may_not_write_has_no_body_read(self, admin: Api) -> None:
        Api(caller(Role.OWNER)).send("POST", "policies", "{", status=403, kind=YAML)


class TestValidate:
    def judged(self, api: Api, spec: Any, *, name: str = "basic", query: str = "") -> Any:
        body = {"metadata": {"name": name}, "spec": spec}
        return api.send("POST", f"policies/validate{query}", body, status=200).json()

    def test_nothing_is_stored(self, admin: Api) -> None:
        verdict = self.judged(admin, SPEC)
        assert (verdict["valid"], verdict["errors"]) == (True, [])
        assert {each["type"] for each in verdict["conditions"]} >= {"PolicyValid", "Ready"}
        assert not MemoryPolicy.objects.exists()

    def test_a_phase_error_is_invalid_with_its_conditions(self, admin: Api) -> None:
        verdict = self.judged(admin, {"tiers": {"user": {"ttl": {"default": "2d", "maxAge": "1d"}}}})
        assert verdict["valid"] is False
        [valid] = [each for each in verdict["conditions"] if each["type"] == "PolicyValid"]
        assert valid["status"] == "False"
        assert "/spec/tiers/user/ttl/default" in valid["message"]

    def test_an_existing_policys_faults_may_stay(self, admin: Api) -> None:
        legacy = SPEC | {"dedup": {"embeddingSimilarity": {"autoSupersedeAbove": "0.4"}}}
        MemoryPolicy.objects.create(name="basic", spec=legacy, phase="Active")
        assert self.judged(admin, legacy | {"write": {"maxBodyBytes": 5}})["valid"]
        assert not self.judged(admin, legacy, query="?as=create")["valid"]
        assert not self.judged(admin, legacy, name="another")["valid"]

    def test_who_may_read_a_policy_has_its_update_judged(self, admin: Api) -> None:
        legacy = SPEC | {"dedup": {"embeddingSimilarity": {"autoSupersedeAbove": "0.4"}}}
        MemoryPolicy.objects.create(name="basic", spec=legacy, phase="Active")
        admin.make("workspaces", "w", BOUND)
        viewer = Api(caller(Role.VIEWER, workspaces=frozenset({Workspace.objects.get().uid})))
        assert self.judged(viewer, legacy)["valid"]
        assert not self.judged(viewer, legacy, query="?as=create")["valid"]

    def test_it_is_judged_as_a_creation_or_as_what_it_is(self, admin: Api) -> None:
        body = {"metadata": {"name": "basic"}, "spec": SPEC}
        refused = admin.send("POST", "policies/validate?as=update", body, status=400)
        assert refused.json()["code"] == "invalid_parameter"

    def test_who_may_not_see_a_policy_learns_nothing_of_it(self, admin: Api) -> None:
        legacy = SPEC | {"dedup": {"embeddingSimilarity": {"autoSupersedeAbove": "0.4"}}}
        MemoryPolicy.objects.create(name="basic", spec=legacy, phase="Active")
        with opened_store() as store:
            owner = Api(caller(Role.OWNER, workspaces=frozenset({store.workspace})))
            assert not self.judged(owner, legacy)["valid"]


class TestWhoMay:
    @pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.OWNER])
    def test_security_218_only_platform_admins_write(self, admin: Api, role: Role) -> None:
        admin.make("policies", "basic", SPEC)
        admin.make("workspaces", "w", BOUND)
        api = Api(caller(role))
        for path, spec in (("policies/basic", SPEC), ("workspaces/w", BOUND)):
            body = {"metadata": {"name": path.split("/")[1]}, "spec": spec}
            api.send("POST", path.split("/")[0], body, status=403)
            for method in ("PUT", "PATCH", "DELETE"):
                api.send(method, path, body, status=403, **{"If-Match": "*"})

    def test_security_219_others_see_what_is_bound_where_they_are(self, admin: Api) -> None:
        for name in ("basic", "secret"):
            admin.make("policies", name, SPEC)
        for name, policy in (("mine", "basic"), ("theirs", "basic"), ("other", "secret")):
            bound = {"services": [{"name": "default", "memory": {"policyRef": {"name": policy}}}]}
            admin.make("workspaces", name, bound | {"directGrants": [{"user": "ada", "role": "owner"}]})
        mine = Workspace.objects.get(name="mine").uid
        api = Api(caller(Role.VIEWER, workspaces=frozenset({mine})))
        [policy] = api.show("policies")["items"]
        assert policy["metadata"]["name"] == "basic"
        assert [each["workspace"] for each in policy["bindings"]] == ["mine"]
        api.show("policies/secret", status=404)
        [workspace] = api.show("workspaces")["items"]
        assert workspace["metadata"]["name"] == "mine"
        assert "directGrants" not in workspace["spec"]
        api.show("workspaces/other", status=404)
        owner = Api(caller(Role.OWNER, workspaces=frozenset({mine})))
        assert owner.show("workspaces/mine")["spec"]["directGrants"] == [{"user": "ada", "role": "owner"}]


class TestWorkspaces:
    def test_a_workspace_with_memories_is_confirmed_by_its_name(self) -> None:
        with opened_store(role=Role.PLATFORM_ADMIN) as store:
            store.save("Keeps bees")
            store.send("POST", "memories/consent-events", {"userId": "u1", "category": "memory:health"}, status=200,
                       query={"workspace": str(store.workspace)})  # fmt: skip
            api, name = Api(store.client), Workspace.objects.get(uid=store.workspace).name
            refused = api.send("DELETE", f"workspaces/{name}", status=409, **{"If-Match": "*"})
            assert refused.json()["code"] == "workspace_not_empty"
            api.send("DELETE", f"workspaces/{name}?confirm=other", status=409, **{"If-Match": "*"})
            api.send("DELETE", f"workspaces/{name}?confirm={name}", status=200, **{"If-Match": "*"})
            assert select("SELECT 1 FROM memories_memory") == []
            api.show(f"workspaces/{name}", status=404)
