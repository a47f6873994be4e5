"""The frame in a browser: signing in, workspaces, themes, keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.integration.dashboard.scene import PASSWORD, browser_of, person, remembered, workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_signing_in_and_out(visit: Visit) -> None:
    workspace("research", ada="viewer")
    page = visit.page
    visit.go("/memories/")
    expect(page.get_by_label("Username")).to_be_focused()
    page.keyboard.type("ada")
    page.get_by_label("Password").fill("guess")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("correct username and password")
    expect(page.get_by_label("Password")).to_be_focused()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Memories", exact=True)).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_switching_workspaces_with_the_keyboard(visit: Visit) -> None:
    remembered(workspace("research", ada="owner"), "Of research.")
    remembered(workspace("support", ada="viewer"), "Of support.")
    page = visit.page
    visit.sign_in("ada")
    visit.go("/")
    expect(page.get_by_text("Of research.")).to_be_visible()
    page.get_by_role("button", name="Workspace research").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="support viewer")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="support viewer")).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Of support.")).to_be_visible()
    expect(page.get_by_role("button", name="Workspace support")).to_be_visible()


def test_the_theme_follows_the_system_until_one_is_chosen(visit: Visit) -> None:
    workspace("research", ada="viewer")
    page = visit.page
    page.emulate_media(color_scheme="dark")
    visit.sign_in("ada")
    visit.go("/memories/")

    def scheme() -> str:
        light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(246, 247, 249)"
        return "light" if light else "dark"

    assert scheme() == "dark"
    page.get_by_role("button", name="Light").click()
    assert scheme() == "light"
    page.reload()
    assert scheme() == "light"
    expect(page.get_by_role("button", name="Light")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Auto").click()
    assert scheme() == "dark"


def test_the_api_docs_have_the_same_theme_and_a_way_back(visit: Visit) -> None:
    workspace("research", ada="viewer")
    page = visit.page
    page.emulate_media(color_scheme="dark")
    visit.sign_in("ada")
    visit.go("/docs")
    html = page.locator("html")
    expect(html).to_have_class("dark-mode")
    page.emulate_media(color_scheme="light")
    expect(html).not_to_have_class("dark-mode")
    page.get_by_role("link", name="Omnia Memory").click()
    page.get_by_role("button", name="Dark").click()
    visit.go("/docs")
    expect(html).to_have_class("dark-mode")


def test_the_first_stop_skips_the_navigation(visit: Visit) -> None:
    workspace("research", ada="viewer")
    visit.sign_in("ada")
    visit.go("/memories/")
    visit.page.keyboard.press("Tab")
    expect(visit.page.get_by_role("link", name="Skip to content")).to_be_focused()
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("main")).to_be_focused()


def test_single_keys_help_and_can_be_turned_off(visit: Visit) -> None:
    workspace("research", ada="viewer")
    page, keys = visit.page, visit.page.get_by_role("dialog", name="Keyboard shortcuts")
    visit.sign_in("ada")
    visit.go("/memories/")
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_label("Search", exact=True)).to_be_focused()
    page.keyboard.type("?/")
    expect(page.get_by_label("Search", exact=True)).to_have_value("?/")
    page.get_by_role("button", name="Keyboard shortcuts").click()
    keys.get_by_role("checkbox").uncheck()
    keys.get_by_role("button", name="Close").click()
    page.keyboard.press("?")
    expect(keys).to_be_hidden()


def test_the_navigation_leads_somewhere(visit: Visit) -> None:
    workspace("research", ada="viewer")
    client = browser_of("ada")
    visit.sign_in("ada")
    visit.go("/memories/")
    links = visit.page.get_by_role("navigation").get_by_role("link")
    addresses = [link.get_attribute("href") or "" for link in links.all()]
    assert addresses == ["/memories/", "/docs", "/settings/policies/"]
    assert [client.get(address).status_code for address in addresses] == [200, 200, 200]


def test_who_has_no_workspace_and_who_is_lost_are_told_so(visit: Visit) -> None:
    person("newcomer")
    visit.sign_in("newcomer")
    visit.go("/memories/")
    expect(visit.page.get_by_role("heading", name="You have no workspace yet")).to_be_visible()
    visit.expected = {404}
    visit.go("/no/such/page")
    expect(visit.page.get_by_role("heading", name="There is nothing here")).to_be_visible()
    visit.page.get_by_role("link", name="Go to Memories").click()
    expect(visit.page.get_by_role("heading", name="You have no workspace yet")).to_be_visible()
