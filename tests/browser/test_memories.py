"""The Memories page in a browser: scopes, search, filters, pages, the panel, with the mouse and without it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from memories.embeddings.current import use
from policies.models import Workspace
from tests.browser.conftest import Visit
from tests.integration.dashboard.scene import PERSON, remembered, workspace
from tests.support import fill

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def place() -> Iterator[Workspace]:
    with use(None):
        yield workspace("research", ada="owner")


@pytest.fixture
def page(visit: Visit, place: Workspace) -> Page:
    visit.sign_in("ada")
    return visit.page


def show_user(page: Page, user: str) -> None:
    page.get_by_label("User", exact=True).check()
    page.get_by_label("User id").fill(user)
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text(f"of user {user}")).to_be_visible()


def test_choosing_whose_memories_to_see(visit: Visit, place: Workspace, page: Page) -> None:
    remembered(place, "For all.")
    remembered(place, "Of the person.", user=PERSON)
    visit.go("/memories/")
    expect(page.get_by_label("User id")).to_be_hidden()
    show_user(page, PERSON)
    expect(page.locator("a.row")).to_have_count(1)
    expect(page.get_by_label("Agent id")).to_be_hidden()
    page.get_by_label("Agents").select_option("One agent")
    expect(page.get_by_label("Agent id")).to_be_visible()
    page.get_by_label("Agents").select_option("Any agent or none")
    page.get_by_label("Include shared").check()
    page.get_by_role("button", name="Show").click()
    expect(page.locator("a.row")).to_have_count(2)
    assert PERSON not in page.url
    page.get_by_label("User id").fill("")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("Give the user's id.")).to_be_visible()
    expect(page.get_by_label("User id")).to_be_focused()


def test_searching_and_filtering_as_one_types(visit: Visit, place: Workspace, page: Page) -> None:
    fill(place.uid, 60)
    remembered(place, "Drinks tea.", type="preference", confidence=0.95, updated_at=datetime(2025, 1, 1, tzinfo=UTC))
    visit.go("/memories/")
    expect(page.get_by_text("61 memories")).to_be_visible()
    page.get_by_label("Search", exact=True).press_sequentially("tea")
    expect(page.get_by_text("1 found")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?view=[\w-]+&q=tea$"))
    page.reload()
    expect(page.get_by_label("Search", exact=True)).to_have_value("tea")
    page.get_by_label("Search", exact=True).fill("")
    page.get_by_label("Type").select_option("preference")
    expect(page.get_by_text("1 found")).to_be_visible()
    page.get_by_label("Type").select_option("Any")
    page.get_by_label("Confidence").select_option("90% or more")
    expect(page.get_by_text("1 found")).to_be_visible()
    page.get_by_label("Purpose").fill("sales")
    page.get_by_label("Purpose").press("Enter")
    expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
    page.get_by_role("link", name="Clear filters").last.click()
    expect(page.get_by_text("61 memories")).to_be_visible()


def test_loading_more_keeps_the_place(visit: Visit, place: Workspace, page: Page) -> None:
    fill(place.uid, 60, text="number {i}")
    visit.go("/memories/")
    expect(page.locator("a.row")).to_have_count(25)
    more = page.get_by_role("link", name="Load more")
    more.focus()
    page.keyboard.press("Enter")
    expect(page.locator("a.row")).to_have_count(50)
    expect(page.locator("a.row").nth(25)).to_be_focused()
    more.click()
    expect(page.locator("a.row")).to_have_count(60)
    expect(more).to_have_count(0)


def test_the_panel_with_the_mouse(visit: Visit, place: Workspace, page: Page) -> None:
    memory = remembered(place, "Drinks tea.", title="Tea", metadata={"channel": "email"})
    visit.go("/memories/")
    panel = page.get_by_role("dialog", name="Tea")
    page.get_by_role("link", name="Tea").click()
    expect(panel).to_contain_text("Drinks tea.")
    expect(panel).to_contain_text("email")
    page.mouse.click(10, 10)
    expect(panel).to_be_hidden()
    page.get_by_role("link", name="Tea").click()
    panel.get_by_role("link", name="Full page").click()
    expect(page).to_have_url(re.compile(f"/memories/{memory.id}/"))
    expect(page.get_by_role("heading", name="Tea", level=1)).to_be_visible()
    page.get_by_role("link", name="Memories").last.click()
    expect(page.get_by_role("link", name="Tea")).to_be_visible()


def test_everything_with_the_keyboard_alone(visit: Visit, place: Workspace, page: Page) -> None:
    fill(place.uid, 3, text="number {i}")
    visit.go("/memories/")
    panel, rows = page.locator("dialog.drawer"), page.locator("a.row")
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(panel).to_contain_text("number 2")
    expect(panel.get_by_role("button", name="Close")).to_be_focused()
    for _ in range(12):
        page.keyboard.press("Tab")
        inside = "document.activeElement === document.body || document.activeElement.closest('dialog') !== null"
        assert page.evaluate(inside), "the focus left the open panel"
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(rows.nth(2)).to_be_focused()


def test_a_memory_that_went_away_meanwhile(visit: Visit, place: Workspace, page: Page) -> None:
    memory = remembered(place, "Drinks tea.")
    visit.go("/memories/")
    memory.delete()
    visit.expected = {404}
    page.get_by_role("link", name="Drinks tea.").click()
    expect(page.get_by_role("status").filter(has_text="no longer there")).to_be_visible()
    expect(page.locator("dialog.drawer")).to_be_hidden()


def test_a_deep_link_to_somebodys_memory(visit: Visit, place: Workspace, page: Page) -> None:
    memory = remembered(place, "Drinks tea.", user=PERSON)
    visit.expected = {404}
    visit.go(f"/memories/{memory.id}/")
    expect(page.get_by_role("heading", name="not in the scope you have open")).to_be_visible()
    page.get_by_label("User", exact=True).check()
    page.get_by_label("User id").fill(PERSON)
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("article")).to_contain_text("Drinks tea.")
    assert PERSON not in page.url


def test_forgetting_asks_first_and_says_it_is_done(visit: Visit, place: Workspace, page: Page) -> None:
    remembered(place, "Drinks tea.")
    remembered(place, "Drinks coffee.")
    visit.go("/memories/")
    page.get_by_label("Search", exact=True).fill("drinks")
    expect(page.get_by_text("2 found")).to_be_visible()
    page.get_by_role("link", name="Drinks tea.").click()
    expect(page.get_by_role("button", name="Forget it")).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 500})
    expect(page.get_by_text("Forget…")).to_be_in_viewport(ratio=1)
    page.get_by_text("Forget…").click()
    expect(page.get_by_role("button", name="Forget it")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_role("status").filter(has_text="Forgotten.")).to_be_visible()
    expect(page.locator("a.row")).to_have_count(1)
    expect(page.get_by_label("Search", exact=True)).to_have_value("drinks")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("article")).to_contain_text("Drinks tea.")
    expect(page.get_by_role("status").filter(has_text="Taken back.")).to_be_visible()


def test_an_empty_scope_offers_the_first_command(visit: Visit, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.go("/memories/")
    show_user(page, "somebody new")
    page.get_by_role("button", name="Copy the command").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert '"virtual_user_id": "somebody new"' in page.evaluate("navigator.clipboard.readText()")


def test_a_hostile_memory_runs_nothing(visit: Visit, place: Workspace, page: Page) -> None:
    hostile = "</script><img src=x onerror=alert(1)><b hx-get='/logout/' hx-trigger='load'>"
    remembered(place, hostile, title=hostile, metadata={hostile: hostile})
    visit.go("/memories/")
    page.locator("a.row").click()
    expect(page.locator("dialog.drawer")).to_contain_text(hostile)
    assert page.locator("main img, dialog img, [hx-trigger=load]").count() == 0


def test_the_list_works_without_javascript(visit: Visit, place: Workspace, page: Page) -> None:
    fill(place.uid, 30, text="number {i}")
    remembered(place, "Drinks tea.")
    plain = page.context.browser.new_context(java_script_enabled=False, storage_state=page.context.storage_state())  # type: ignore[union-attr]
    page = plain.new_page()
    page.goto(visit.server + "/memories/")
    page.get_by_role("link", name="Load more").click()
    expect(page.locator("a.row")).to_have_count(6)
    page.get_by_label("Search", exact=True).fill("tea")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("link", name="Drinks tea.").click()
    expect(page.get_by_role("article")).to_contain_text("Drinks tea.")
    plain.close()
