"""The Audit page in a browser: filters, a person without their id in the address, the facts of an event."""

from __future__ import annotations

from uuid import UUID

import pytest
from playwright.sync_api import expect

from omnia.audit import record
from omnia.audit.pseudonym import pseudonym
from omnia.core.actor import Actor
from omnia.core.scope import Scope
from policies.models import Workspace
from tests.browser.conftest import Visit
from tests.browser.test_accessibility import LONG, Inspect, inspect
from tests.integration.dashboard.scene import PERSON, workspace

__all__ = ["inspect"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MEMORY = UUID("018f0000-0000-7000-8000-000000000000")


@pytest.fixture
def place() -> Workspace:
    made = workspace("research", olga="owner")
    for number in range(60):
        record.memory_created(scope=Scope(made.uid, f"u{number}"), actor=Actor("token:ci"), memory=MEMORY)
    record.memory_deleted(scope=Scope(made.uid, PERSON), actor=Actor("user:olga"), memory=MEMORY, reason="forgotten")
    facts = {"changes": [{"pointer": "/spec/displayName", "before": "Research", "after": LONG}], "note": LONG}
    record.record(
        "workspace_changed", workspace=made.uid, actor=Actor(LONG[:200], user_agent=LONG[:200]), metadata=facts
    )
    return made


def test_axe_finds_nothing(visit: Visit, inspect: Inspect, place: Workspace) -> None:
    page = visit.page
    visit.sign_in("olga")
    visit.go("/audit/")
    page.locator(".event").first.click()
    inspect("audit with the facts of an event")
    visit.go("/audit/?until=2020-01-01")
    inspect("nothing matches")


def test_a_person_is_found_and_let_go_by_keyboard(visit: Visit, place: Workspace) -> None:
    page = visit.page
    visit.sign_in("olga")
    visit.go("/audit/")
    expect(page.get_by_role("status").get_by_text("62")).to_be_visible()
    page.get_by_label("User id").focus()
    page.keyboard.type(PERSON)
    page.keyboard.press("Enter")
    expect(page.get_by_text(pseudonym(PERSON)).first).to_be_visible()
    assert PERSON not in page.url
    expect(page.locator(".event")).to_have_count(1)
    page.get_by_role("link", name="Show everybody").click()
    expect(page.locator(".event")).to_have_count(50)
    page.get_by_role("link", name="Older events").click()
    expect(page.locator(".event")).to_have_count(12)
    page.get_by_role("link", name="Newest").click()
    expect(page.locator(".event")).to_have_count(50)
    visit.check()


def test_an_event_is_filtered_and_exported(visit: Visit, place: Workspace) -> None:
    page = visit.page
    visit.sign_in("olga")
    visit.go("/audit/")
    page.get_by_label("Event", exact=True).select_option("memory_deleted")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".event")).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.path().read_text().count("memory_deleted") == 1
    visit.check()
