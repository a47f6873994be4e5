"""Settings, Memory policies: who sees what, the editor without scripts, conflicts, and what the audit keeps."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from omnia.audit.models import AuditRow
from omnia.core.actor import Actor
from policies.models import MemoryPolicy, ServiceGroup, Workspace
from policies.services.edit import create_policy, delete_policy, patch_policy
from tests.contract.policy_documents import policy
from tests.integration.dashboard.scene import browser_of, person, workspace

pytestmark = pytest.mark.django_db

ACTOR = Actor(name="user:1")
NOW = datetime(2026, 6, 1, tzinfo=UTC)
LIST, NEW = "/settings/policies/", "/settings/new-policy/"
SPEC: dict[str, Any] = {
    "tiers": {"user": {"ttl": {"default": "180d"}}},
    "gate": {"minDistinctSubjects": 3, "allowedTerms": ["Ledgerline"]},
    "schema": {"types": [{"name": "fact"}]},
}


def made(name: str = "standard", spec: dict[str, Any] = SPEC) -> MemoryPolicy:
    return create_policy(policy(spec, name=name), actor=ACTOR, now=NOW)


def bind(place: Workspace, name: str, *, group: str = "default") -> None:
    ServiceGroup.objects.create(workspace=place, name=group, policy_name=name)


@pytest.fixture
def admin() -> Client:
    root = person("root")
    root.is_superuser = True
    root.save()
    return browser_of("root")


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def fields_in(text: str) -> dict[str, str]:
    """The form as a browser would send it back."""
    found = dict(re.findall(r'<input[^>]* name="([^"]+)" value="([^"]*)"', text))
    found |= dict(re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>\n(.*?)</textarea>', text, re.S))
    for name, choices in re.findall(r'<select[^>]* name="([^"]+)"[^>]*>(.*?)</select>', text, re.S):
        chosen = re.search(r'value="([^"]*)" selected', choices)
        found[name] = chosen[1] if chosen else ""
    return {html.unescape(name): html.unescape(value) for name, value in found.items()}


def send(client: Client, address: str, text: str, do: str, **typed: str) -> Any:
    """One button of a shown editor."""
    return client.post(address, fields_in(text) | typed | {"do": do})


def stored(name: str = "standard") -> dict[str, Any]:
    return dict(MemoryPolicy.objects.get(name=name).spec)


def test_the_list_shows_phase_failing_conditions_and_bindings(admin: Client) -> None:
    bind(workspace("research"), "standard", group="batch")
    bind(workspace("support"), "gone")
    made()
    made("narrow", {"tiers": {"user": {}}, "schema": {"types": [{"name": "law", "allowedTiers": ["institutional"]}]}})
    made("wrong", {"tiers": {"user": {"ttl": {"default": "9d", "maxAge": "1d"}}}})
    text = page(admin, LIST)
    assert "research / batch" in text
    assert "<strong>SchemaCoverage</strong> no schema type may be written to: user" in text
    assert "<strong>PolicyValid</strong> /spec/tiers/user/ttl/default must not be longer than maxAge" in text
    assert "WorkspacesResolved" not in text
    assert text.count(">Active</span>") == 2
    assert text.count(">Error</span>") == 1
    assert "Create gone" in text


def test_others_see_only_what_is_bound_where_they_may_look(admin: Client) -> None:
    """Security 219."""
    bind(workspace("research", ada="viewer"), "standard")
    bind(workspace("support"), "standard")
    bind(workspace("secret"), "covert")
    made()
    made("covert")
    ada = browser_of("ada")
    text = page(ada, LIST)
    assert "standard" in text
    assert "covert" not in text
    text = page(ada, LIST + "standard/")
    assert "Bound in 1 group you can see" in text
    assert "support" not in text
    assert "Bound in 2 groups" in page(admin, LIST + "standard/")
    assert ada.get(LIST + "covert/").status_code == ada.get(LIST + "no-such/").status_code == 404


def test_who_may_not_change_a_policy_reads_text_and_finds_no_control() -> None:
    bind(workspace("research", ada="owner"), "standard")
    made()
    ada = browser_of("ada")
    text = page(ada, LIST + "standard/").partition("<main")[2].partition("</main>")[0]
    assert not re.search(r"<(input|select|textarea|form)\b", text)
    assert "180d" in text
    assert "≈ 6 months" in text
    assert "Copy the YAML" in text
    for address in (LIST + "standard/", NEW, LIST + "standard/delete/"):
        assert ada.post(address, {"base": "{}", "draft": "a: 1", "do": "save"}).status_code == 403
    assert ada.get(NEW).status_code == ada.get(LIST + "standard/delete/").status_code == 403
    assert stored()["gate"]["minDistinctSubjects"] == 3


def test_a_saved_form_changes_what_was_typed_and_nothing_else(admin: Client) -> None:
    bind(workspace("research"), "standard")
    before = made().spec
    address = LIST + "standard/"
    answer = send(admin, address, page(admin, address), "save", **{"/spec/gate/minDistinctSubjects": "5"})
    assert answer.status_code == 302
    assert stored() == before | {"gate": before["gate"] | {"minDistinctSubjects": 5}}
    assert "Saved as generation 2. 1 service group follows it within 30 s." in page(admin, address)
    event = AuditRow.objects.get(event="policy_changed")
    assert event.metadata["changes"] == [{"pointer": "/spec/gate/minDistinctSubjects", "before": 3, "after": 5}]


def test_one_draft_stands_behind_form_yaml_and_changes(admin: Client) -> None:
    bind(workspace("research"), "standard")
    made()
    address = LIST + "standard/"
    form = page(admin, address)
    text = send(admin, address, form, "yaml", **{"/spec/gate/minDistinctSubjects": "5"}).content.decode()
    assert "minDistinctSubjects: 5" in text
    draft = fields_in(text)["draft"].replace("default: 180d", "default: 90d")
    text = send(admin, address, text, "changes", draft=draft).content.decode()
    assert "Saving reaches 1 service group within 30 s" in text
    assert "<del>180d (≈ 6 months)</del>" in text
    assert "<ins>90d (≈ 3 months)</ins>" in text
    assert "<code>gate.minDistinctSubjects</code>" in text
    text = send(admin, address, text, "undo:/spec/gate/minDistinctSubjects").content.decode()
    assert fields_in(send(admin, address, text, "form").content.decode())["/spec/tiers/user/ttl/default"] == "90d"
    assert stored()["tiers"]["user"]["ttl"]["default"] == "180d"


def test_a_refused_draft_keeps_what_was_typed_and_says_why_beside_the_field(admin: Client) -> None:
    made()
    address, typed = LIST + "standard/", {"/spec/write/maxBodyBytes": "many", "/spec/gate/minDistinctSubjects": "1"}
    text = send(admin, address, page(admin, address), "save", **typed).content.decode()
    assert "Not saved: 2 problems" in text
    assert "must be a whole number from 2 to 1000" in text
    assert typed.items() <= fields_in(text).items()
    assert "maxBodyBytes" not in stored().get("write", {})


def test_yaml_that_cannot_be_read_stays_as_typed_with_its_line(admin: Client) -> None:
    made()
    address = LIST + "standard/"
    broken = "kind: MemoryPolicy\nspec:\n  tiers: [\n"
    text = send(admin, address, page(admin, address + "?view=yaml"), "form", draft=broken).content.decode()
    assert "The form and the changes open once the YAML can be read." in text
    assert fields_in(text)["draft"] == broken
    assert 'data-line="4"' in text


def test_a_policy_that_would_be_in_error_is_saved_only_when_that_is_meant(admin: Client) -> None:
    made()
    address, typed = LIST + "standard/", {"/spec/tiers/user/ttl/maxAge": "1d"}
    text = send(admin, address, page(admin, address), "save", **typed).content.decode()
    assert "the policy would be in phase Error" in text
    assert "maxAge" not in stored()["tiers"]["user"]["ttl"]
    assert send(admin, address, text, "save:error").status_code == 302
    assert MemoryPolicy.objects.get(name="standard").phase == "Error"


def test_a_change_elsewhere_is_joined(admin: Client) -> None:
    """Field fault 85."""
    made()
    address = LIST + "standard/"
    text = page(admin, address)
    patch_policy("standard", {"spec": {"gate": {"corroborationWindowDays": 7}}}, actor=ACTOR, now=NOW)
    assert send(admin, address, text, "save", **{"/spec/gate/minDistinctSubjects": "5"}).status_code == 302
    gate = stored()["gate"]
    assert (gate["minDistinctSubjects"], gate["corroborationWindowDays"]) == (5, 7)
    assert "Kept what was changed meanwhile: gate.corroborationWindowDays." in page(admin, address)


@pytest.mark.parametrize(("choice", "value"), [("theirs", 4), ("mine", 5)])
def test_a_change_of_the_same_field_is_asked_about(admin: Client, choice: str, value: int) -> None:
    made()
    address, pointer = LIST + "standard/", "/spec/gate/minDistinctSubjects"
    text = page(admin, address)
    others = {"gate": {"minDistinctSubjects": 4}, "write": {"maxBodyBytes": 64}}
    patch_policy("standard", {"spec": others}, actor=ACTOR, now=NOW)
    typed = {pointer: "5", "/spec/tiers/user/ttl/default": "90d"}
    text = send(admin, address, text, "save", **typed).content.decode()
    assert "Someone else changed the same field" in text
    assert re.findall(r'<pre class="clash-value">(.*?)</pre>', text) == ["3", "4", "5"]
    assert stored()["gate"]["minDistinctSubjects"] == 4
    assert send(admin, address, text, "save", **{f"pick:{pointer}": choice}).status_code == 302
    spec = stored()
    assert spec["gate"]["minDistinctSubjects"] == value
    assert (spec["write"]["maxBodyBytes"], spec["tiers"]["user"]["ttl"]["default"]) == (64, "90d")


def test_a_status_write_never_conflicts(admin: Client) -> None:
    made()
    address = LIST + "standard/"
    text = page(admin, address)
    MemoryPolicy.objects.update(phase="Error", conditions=[], resource_version="77", updated_at=datetime.now(UTC))
    assert send(admin, address, text, "save", **{"/spec/gate/minDistinctSubjects": "5"}).status_code == 302
    assert stored()["gate"]["minDistinctSubjects"] == 5


def test_a_policy_deleted_meanwhile_becomes_a_new_one_with_what_was_typed(admin: Client) -> None:
    made()
    address = LIST + "standard/"
    text = page(admin, address)
    delete_policy("standard", actor=ACTOR)
    text = send(admin, address, text, "save", **{"/spec/gate/minDistinctSubjects": "5"}).content.decode()
    assert "standard was deleted meanwhile" in text
    assert send(admin, NEW, text, "save").status_code == 302
    assert stored()["gate"] == {**SPEC["gate"], **stored()["gate"], "minDistinctSubjects": 5}


def test_creating_one(admin: Client) -> None:
    bind(workspace("research"), "fresh")
    text = page(admin, NEW + "?name=fresh")
    assert send(admin, NEW, text, "save", **{"/spec/tiers/user/ttl/default": "30d"}).status_code == 302
    assert stored("fresh") == {"tiers": {"user": {"ttl": {"default": "30d"}}}}
    assert "Created fresh. 1 service group follows it" in page(admin, LIST + "fresh/")


@pytest.mark.parametrize(("name", "why"), [("", "must be a lower-case DNS name"), ("standard", "another policy")])
def test_a_name_that_cannot_be_given_is_said_at_the_name(admin: Client, name: str, why: str) -> None:
    made()
    text = send(admin, NEW, page(admin, NEW), "save", **{"/metadata/name": name}).content.decode()
    assert re.search(rf'id="note:/metadata/name">.*?{why}', text, re.S)
    assert MemoryPolicy.objects.count() == 1


def test_a_duplicate_has_every_field_and_a_name_of_its_own(admin: Client) -> None:
    made()
    text = page(admin, NEW + "?from=standard")
    assert fields_in(text)["/metadata/name"] == "standard-copy"
    assert send(admin, NEW, text, "save").status_code == 302
    assert stored("standard-copy") == stored()


def test_a_policy_keeps_its_name(admin: Client) -> None:
    made()
    address = LIST + "standard/"
    text = page(admin, address + "?view=yaml")
    renamed = fields_in(text)["draft"].replace("name: standard", "name: other")
    text = send(admin, address, text, "save", draft=renamed).content.decode()
    assert "must be standard" in text
    assert list(MemoryPolicy.objects.values_list("name", flat=True)) == ["standard"]


def test_deleting_says_what_it_unbinds(admin: Client) -> None:
    bind(workspace("research"), "standard")
    bind(workspace("support"), "standard")
    made()
    address = LIST + "standard/delete/"
    text = page(admin, address)
    assert "It unbinds 2 service groups" in text
    assert "support / default" in text
    patch_policy("standard", {"spec": {"write": {"maxBodyBytes": 64}}}, actor=ACTOR, now=NOW)
    assert "Nothing was deleted" in admin.post(address, fields_in(text)).content.decode()
    assert admin.post(address, fields_in(page(admin, address))).status_code == 302
    assert not MemoryPolicy.objects.exists()
    assert "2 service groups run on the built-in defaults" in page(admin, LIST)


def test_a_section_and_an_entry_come_and_go(admin: Client) -> None:
    made()
    address = LIST + "standard/"
    text = send(admin, address, page(admin, address), "remove:/spec/gate").content.decode()
    text = send(admin, address, text, "add:/spec/tierPrecedence").content.decode()
    place = "/spec/tiers/user/perCategory"
    text = send(admin, address, text, f"entry:{place}", **{f"entry:{place}": "memory:health"}).content.decode()
    typed = {f"{place}/memory:health/ttl/default": "30d"}
    assert send(admin, address, text, "save", **typed).status_code == 302
    spec = stored()
    assert "gate" not in spec
    assert spec["tierPrecedence"]["multiplicative"]["user"] == "1.0"
    assert spec["tiers"]["user"]["perCategory"] == {"memory:health": {"ttl": {"default": "30d"}}}


def test_what_is_not_saved_here_is_refused_not_dropped(admin: Client) -> None:
    made()
    address = LIST + "standard/"
    text = page(admin, address + "?view=yaml")
    labelled = fields_in(text)["draft"].replace("name: standard", "name: standard\n  labels: {team: a}")
    text = send(admin, address, text, "save", draft=labelled).content.decode()
    assert "is not edited here; only the spec is" in text


@pytest.mark.parametrize("form", [{}, {"base": "[]", "draft": ""}, {"base": "{", "draft": "a: 1"}, {"base": "{}"}])
def test_a_form_that_is_not_ours_is_refused(admin: Client, form: dict[str, str]) -> None:
    made()
    assert admin.post(LIST + "standard/", form | {"do": "save"}).status_code == 400


@pytest.mark.parametrize(
    "do", ["", "nothing", "undo", "undo:", "add:/no/such", "remove:/spec/tiers", "now:/spec", "x:/y"]
)
def test_no_button_breaks_the_editor(admin: Client, do: str) -> None:
    made()
    address = LIST + "standard/"
    assert send(admin, address, page(admin, address), do).status_code == 200
