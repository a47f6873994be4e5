"""The Access page in a browser: a token made, copied and withdrawn by keyboard; axe finds nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from omnia.api.principal import Role
from policies.models import Workspace
from tests.browser.conftest import Visit
from tests.browser.test_accessibility import LONG, Inspect, inspect
from tests.callers import issue
from tests.integration.dashboard.scene import person, workspace

__all__ = ["inspect"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def place() -> Workspace:
    made = workspace("research", olga="owner", root="viewer")
    admin = person("root")
    admin.is_superuser = True
    admin.save()
    issue(Role.EDITOR, name=LONG[:120], workspaces=frozenset({made.uid}), subject=LONG[:253])
    return made


def test_axe_finds_nothing(visit: Visit, inspect: Inspect, place: Workspace) -> None:
    page = visit.page
    visit.sign_in("root")
    visit.go("/access/")
    page.get_by_text("Withdraw…").first.click()
    page.get_by_text("Remove…").first.click()
    inspect("access")
    page.get_by_label("Name", exact=True).fill("ci")
    page.get_by_role("button", name="Make token").click()
    expect(page.get_by_role("heading", name="Token ci")).to_be_visible()
    inspect("a new token")
    page.get_by_label("Username").last.fill("olga")
    page.get_by_role("button", name="Make account").click()
    expect(page.get_by_text("already exists")).to_be_visible()
    inspect("a refused account")


def test_a_token_is_made_and_withdrawn_by_keyboard(visit: Visit, place: Workspace) -> None:
    page = visit.page
    visit.sign_in("olga")
    visit.go("/access/")
    page.get_by_label("Name", exact=True).focus()
    page.keyboard.type("nightly")
    page.keyboard.press("Enter")
    expect(page.locator("#issued")).to_contain_text("omnia_")
    visit.go("/access/")
    page.get_by_label("Withdraw token nightly").focus()
    page.keyboard.press("Enter")
    page.locator(".grant").filter(has_text="nightly").get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").get_by_text("Withdrawn.")).to_be_visible()
    expect(page.get_by_text("nightly")).to_have_count(0)
    visit.check()
