"""Memory policies in a browser: edited, checked while typing, compared, and saved, by keyboard alone where it says so."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from omnia.core.actor import Actor
from policies.models import MemoryPolicy, ServiceGroup
from policies.services.edit import create_policy, patch_policy
from tests.browser.conftest import Visit
from tests.browser.test_accessibility import LONG, Inspect, inspect
from tests.contract.policy_documents import policy
from tests.integration.dashboard.scene import person, workspace

__all__ = ["inspect"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ACTOR = Actor(name="user:1")
NOW = datetime(2026, 6, 1, tzinfo=UTC)
HOME = "/settings/policies/standard/"
SPEC: dict[str, Any] = {
    "tiers": {"user": {"ttl": {"default": "180d"}, "perCategory": {"memory:health": {"ttl": {"default": "30d"}}}}},
    "recall": {"graphExpansion": {"enabled": True}},
    "gate": {"minDistinctSubjects": 3, "allowedTerms": ["Ledgerline"]},
    "schema": {"types": [{"name": "fact"}]},
    "toolGuidance": {"notes": LONG},
}


@pytest.fixture(autouse=True)
def scene() -> None:
    root = person("root")
    root.is_superuser = True
    root.save()
    place = workspace("research", ada="viewer")
    ServiceGroup.objects.create(workspace=place, name="default", policy_name="standard")
    ServiceGroup.objects.create(workspace=place, name="batch", policy_name="standard")
    create_policy(policy(SPEC, name="standard"), actor=ACTOR, now=NOW)


def opened(visit: Visit, address: str = HOME) -> Page:
    visit.sign_in("root")
    visit.go(address)
    return visit.page


def field(page: Page, label: str, *, group: str) -> Any:
    return page.get_by_role("group", name=group, exact=True).get_by_label(label, exact=True)


def change_meanwhile(spec: dict[str, Any]) -> None:
    patch_policy("standard", {"spec": spec}, actor=ACTOR, now=NOW)


def stored() -> dict[str, Any]:
    return dict(MemoryPolicy.objects.get(name="standard").spec)


def test_an_admin_edits_and_saves_by_keyboard_alone(visit: Visit) -> None:
    page, keys = opened(visit, "/settings/policies/"), visit.page.keyboard
    page.get_by_role("link", name="standard", exact=True).focus()
    keys.press("Enter")
    expect(page.get_by_role("heading", name="standard")).to_be_visible()
    keys.press("/")
    keys.type("distinct subjects")
    subjects = field(page, "Min distinct subjects", group="Gate")
    expect(field(page, "Dedup threshold", group="Gate")).to_be_hidden()
    while not subjects.evaluate("(field) => field === document.activeElement"):
        keys.press("Tab")
    keys.press("Control+A")
    keys.type("1")
    expect(page.get_by_text("must be a whole number from 2 to 1000")).to_be_visible()
    expect(subjects).to_have_attribute("aria-invalid", "true")
    keys.press("Control+A")
    keys.type("5")
    expect(page.get_by_role("status").filter(has_text="1 change")).to_contain_text(
        "reaches 2 service groups within 30 s"
    )
    expect(subjects).not_to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("Was 3")).to_be_visible()
    expect(subjects).to_be_focused()
    keys.press("Control+S")
    expect(page.get_by_text("Saved as generation 2. 2 service groups follow it within 30 s.")).to_be_visible()
    assert stored() == SPEC | {
        "recall": stored()["recall"],
        "gate": {**stored()["gate"], "allowedTerms": ["Ledgerline"], "minDistinctSubjects": 5},
    }


def test_durations_are_read_back_while_typing_and_a_change_is_undone(visit: Visit) -> None:
    page = opened(visit)
    ttl = field(page, "Default", group="User › TTL")
    expect(page.get_by_role("group", name="User › TTL", exact=True)).to_contain_text("≈ 6 months")
    ttl.fill("1y")
    expect(page.get_by_role("group", name="User › TTL", exact=True)).to_contain_text("must be a duration such as")
    ttl.fill("365d")
    expect(page.get_by_role("group", name="User › TTL", exact=True)).to_contain_text("≈ 1 year")
    page.get_by_role("group", name="User › TTL", exact=True).get_by_role("button", name="Undo Default").click()
    expect(ttl).to_have_value("180d")
    expect(ttl).to_be_focused()
    expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(0)


def test_the_yaml_is_checked_with_the_line_and_shares_the_draft(visit: Visit) -> None:
    page = opened(visit)
    field(page, "Min distinct subjects", group="Gate").fill("5")
    page.get_by_role("button", name="YAML", exact=True).click()
    editor = page.get_by_role("textbox", name="Policy as YAML")
    expect(page.locator(".cm-content")).to_contain_text("minDistinctSubjects: 5")
    editor.press("Control+Home")
    editor.press_sequentially("oops: [")
    expect(page.locator("#problems")).to_contain_text(re.compile("Line [0-9]+ YAML The text cannot be read"))
    expect(page.locator(".cm-lint-marker-error").first).to_be_visible()
    page.get_by_role("button", name="Form", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("open once the YAML can be read")
    expect(editor).to_contain_text("oops: [")
    editor.press("Control+Home")
    for _ in "oops: [":
        editor.press("Delete")
    editor.press("Control+End")
    editor.press_sequentially("\nanything: 1")
    expect(page.locator("#problems")).to_contain_text("anything is not a field here")
    expect(page.locator(".cm-lintRange-error")).to_have_text("anything: 1")
    editor.press("Control+z")
    editor.press("Shift+Tab")
    expect(editor).not_to_be_focused()


def test_the_changes_are_told_and_undone_one_by_one(visit: Visit) -> None:
    page = opened(visit)
    field(page, "Min distinct subjects", group="Gate").fill("5")
    field(page, "Max body bytes", group="Write").fill("64")
    page.get_by_role("button", name="Changes").click()
    expect(page.get_by_role("listitem").filter(has_text="gate.minDistinctSubjects")).to_contain_text("3 → ")
    expect(page.get_by_text("not set (default 8192)")).to_be_visible()
    expect(page.get_by_text("Saving reaches 2 service groups within 30 s")).to_be_visible()
    page.get_by_role("button", name="Undo write.maxBodyBytes").click()
    expect(page.get_by_role("heading", name="1 change")).to_be_visible()
    expect(page.get_by_role("button", name="Changes")).to_be_focused()
    page.get_by_role("link", name="Discard").click()
    expect(field(page, "Min distinct subjects", group="Gate")).to_have_value("3")
    expect(page.get_by_role("button", name="Restore them")).to_be_hidden()


def test_a_conflict_is_solved_by_keyboard_and_loses_nothing(visit: Visit) -> None:
    page, keys = opened(visit), visit.page.keyboard
    field(page, "Min distinct subjects", group="Gate").fill("5")
    field(page, "Default", group="User › TTL").fill("90d")
    change_meanwhile({"gate": {"minDistinctSubjects": 4, "corroborationWindowDays": 7}})
    keys.press("Control+S")
    expect(page.get_by_role("heading", name="Someone else changed the same field")).to_be_focused()
    sides = page.get_by_role("group", name="gate.minDistinctSubjects")
    expect(sides).to_contain_text("When you began")
    assert sides.locator("pre").all_inner_texts() == ["3", "4", "5"]
    keys.press("Tab")
    expect(sides.get_by_role("radio", name="Mine")).to_be_focused()
    keys.press("ArrowUp")
    expect(sides.get_by_role("radio", name="Theirs")).to_be_checked()
    keys.press("Control+S")
    expect(page.get_by_text("Saved as generation 3")).to_be_visible()
    gate = stored()["gate"]
    assert (gate["minDistinctSubjects"], gate["corroborationWindowDays"]) == (4, 7)
    assert stored()["tiers"]["user"]["ttl"]["default"] == "90d"


def test_what_was_typed_is_offered_again_until_it_is_saved(visit: Visit) -> None:
    page = opened(visit)
    subjects = field(page, "Min distinct subjects", group="Gate")
    subjects.fill("5")
    page.reload()
    expect(subjects).to_have_value("3")
    page.get_by_role("button", name="Restore them").click()
    expect(subjects).to_have_value("5")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved as generation 2")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Restore them")).to_be_hidden()


def test_an_ended_session_keeps_the_draft(visit: Visit) -> None:
    page = opened(visit)
    field(page, "Min distinct subjects", group="Gate").fill("5")
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.get_by_role("button", name="YAML", exact=True).click()
    expect(page.get_by_label("Username")).to_be_visible()
    opened(visit)
    page.get_by_role("button", name="Restore them").click()
    expect(field(page, "Min distinct subjects", group="Gate")).to_have_value("5")


def test_a_policy_is_duplicated_then_deleted(visit: Visit) -> None:
    page = opened(visit)
    page.get_by_role("link", name="Duplicate").click()
    expect(page.get_by_label("Name", exact=True).first).to_have_value("standard-copy")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("Created standard-copy.")).to_be_visible()
    page.get_by_role("link", name="Delete…").click()
    expect(page.get_by_text("No service group binds it")).to_be_visible()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_text("Deleted standard-copy.")).to_be_visible()


def test_a_category_of_its_own(visit: Visit) -> None:
    page = opened(visit)
    page.get_by_role("group", name="Agent › Per category", exact=True).get_by_label("New entry").fill("memory:work")
    visit.page.keyboard.press("Enter")
    ttl = field(page, "Default", group="Agent › Per category › memory:work › TTL")
    expect(ttl).to_be_focused()
    visit.page.keyboard.type("14d")
    expect(page.get_by_text("2 weeks")).to_be_visible()


def test_others_read_it_as_text(visit: Visit) -> None:
    visit.sign_in("ada")
    page = visit.page
    visit.go("/settings/policies/")
    page.get_by_role("link", name="standard", exact=True).click()
    expect(page.get_by_text("Bound in 2 groups you can see")).to_be_visible()
    main = page.get_by_role("main")
    expect(main.get_by_text("≈ 6 months")).to_be_visible()
    expect(main.locator("input, select, textarea, form")).to_have_count(0)
    expect(main.get_by_role("link")).to_have_text(["Memory policies"])
    expect(main.get_by_role("button")).to_have_text(["Copy the YAML"])


def test_axe_finds_nothing_on_the_pages(visit: Visit, inspect: Inspect) -> None:
    create_policy(
        policy({"tiers": {"user": {"ttl": {"default": "9d", "maxAge": "1d"}}}}, name="a" * 253), actor=ACTOR, now=NOW
    )
    page = opened(visit, "/settings/policies/")
    inspect("list")
    visit.go(HOME + "delete/")
    inspect("delete")
    visit.go("/settings/new-policy/?from=" + "a" * 253)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_be_visible()
    inspect("new, refused")
    MemoryPolicy.objects.all().delete()
    visit.go("/settings/policies/")
    inspect("empty")


def test_axe_finds_nothing_for_readers(visit: Visit, inspect: Inspect) -> None:
    visit.sign_in("ada")
    visit.go("/settings/policies/")
    inspect("list")
    visit.go(HOME)
    inspect("text")


def test_axe_finds_nothing_in_the_editor(visit: Visit, inspect: Inspect) -> None:
    page = opened(visit)
    inspect("form")
    field(page, "Min distinct subjects", group="Gate").fill("5")
    field(page, "Auto supersede above", group="Embedding similarity").fill("0.3")
    expect(page.get_by_text("must be above 0.5")).to_have_count(2)
    inspect("form with a problem")
    page.get_by_role("button", name="YAML", exact=True).click()
    expect(page.locator(".cm-lint-marker-error")).to_be_visible()
    inspect("YAML")
    page.get_by_role("button", name="Changes").click()
    expect(page.get_by_role("heading", name="Line by line")).to_be_visible()
    inspect("changes")
    page.get_by_role("button", name="Undo dedup").click()
    expect(page.get_by_role("heading", name="1 change")).to_be_visible()
    change_meanwhile({"gate": {"minDistinctSubjects": 4}})
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Someone else changed")).to_be_visible()
    inspect("conflict")
