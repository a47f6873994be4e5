"""axe finds nothing, and nothing scrolls sideways, on any page, in both themes, wide and narrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from memories.dashboard import finding
from memories.domain.retention import Cause
from memories.models import Memory, Wording
from memories.store import retention
from omnia.core.scope import Tier
from tests.browser.conftest import Visit
from tests.integration.dashboard.scene import PERSON, person, remembered, workspace
from tests.support import fill

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RULES = {
    "light": {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}},
}
"""All of axe's rules, and in the dark the ones that colours can break."""
NARROW, WIDE = 400, 1280
LONG = "an-address-without-a-single-space-" * 12

Inspect = Callable[[str], None]


@pytest.fixture(params=["light", "dark"])
def inspect(request: pytest.FixtureRequest, visit: Visit) -> Inspect:
    """Asks axe and the layout about the page as it stands, at both widths."""
    scheme: Literal["light", "dark"] = request.param
    page = visit.page
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")

    def ask(place: str) -> None:
        visit.check()
        for width in (NARROW, WIDE):
            page.set_viewport_size({"width": width, "height": 900})
            found = Axe().run(page, options=RULES[scheme]).response
            assert found["passes"], (place, width)
            faults = [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found["violations"]]
            assert faults == [], (place, width)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (place, width)

    return ask


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory of the longest words, in a scope with every tier and more than one page."""
    monkeypatch.setattr(finding, "PAGE_SIZE", 4)
    place = workspace("research", ada="owner")
    fill(place.uid, 2)
    for owner in ({"agent": "bot"}, {"user": PERSON, "agent": "bot"}):
        remembered(place, "Drinks tea.", **owner)
    long, label = {"title": LONG, "summary": LONG, "metadata": {LONG: LONG}}, LONG[:253]
    memory = remembered(
        place, LONG, user=PERSON, agent="bot", container=label, session_id=label, purpose=LONG[:128], **long
    )
    Wording.objects.create(
        memory=memory,
        type="fact",
        content=LONG,
        confidence=1,
        said_at=memory.updated_at,
        reason="edited",
        actor="user:ada",
    )
    return memory


def test_signing_in(visit: Visit, inspect: Inspect) -> None:
    person("ada")
    visit.go("/login/")
    inspect("sign in")
    visit.page.get_by_label("Username").fill("ada")
    visit.page.get_by_label("Password").fill("guess")
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("alert")).to_be_visible()
    inspect("wrong password")


def test_the_frame_and_what_is_not_there(visit: Visit, inspect: Inspect, memory: Memory) -> None:
    page = visit.page
    visit.sign_in("ada")
    visit.go("/memories/")
    page.get_by_role("button", name="Workspace research").click()
    inspect("workspaces")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    inspect("keys")
    visit.expected = {404}
    visit.go(f"/memories/{memory.id}/")
    inspect("a memory of another scope")
    visit.go("/no/such/page")
    inspect("error page")
    visit.sign_in("newcomer")
    visit.go("/memories/")
    inspect("no workspace")


def test_the_list(visit: Visit, inspect: Inspect, memory: Memory) -> None:
    page = visit.page
    visit.sign_in("ada")
    visit.go("/memories/")
    page.get_by_label("User", exact=True).check()
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("Give the user's id.")).to_be_visible()
    inspect("scope without its id")
    page.get_by_label("User id").fill(PERSON)
    page.get_by_label("Agents").select_option("One agent")
    page.get_by_label("Agent id").fill("bot")
    page.get_by_label("Include shared").check()
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("link", name="Load more")).to_be_visible()
    inspect("list of every tier")
    page.get_by_label("Search", exact=True).fill("no such thing anywhere")
    expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
    inspect("nothing found")
    page.get_by_label("User id").fill("somebody new")
    page.get_by_label("Include shared").uncheck()
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="No memories here yet")).to_be_visible()
    inspect("empty scope")


def test_retention_and_what_may_be_undone(visit: Visit, inspect: Inspect, memory: Memory) -> None:
    page, now = visit.page, datetime.now(UTC)
    for ago, tier, cause in product(range(0, 30, 2), Tier, Cause):
        rows = Counter({(memory.workspace_id, tier): 3**tier.code * (31 - ago)})
        retention.add(rows, cause=cause, now=now - timedelta(days=ago))
    gone = remembered(memory.workspace, LONG, retired_as="forgotten", retired_at=now)
    visit.sign_in("ada")
    visit.go(f"/memories/?forgotten={gone.id}")
    page.get_by_text("Retention").click()
    expect(page.get_by_role("img", name="Columns of what was deleted")).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    inspect("retention")


def test_an_open_memory(visit: Visit, inspect: Inspect, memory: Memory) -> None:
    page = visit.page
    visit.sign_in("ada")
    visit.go("/memories/")
    page.get_by_label("User", exact=True).check()
    page.get_by_label("User id").fill(PERSON)
    page.get_by_role("button", name="Show").click()
    page.locator("a.row").filter(has_text="an-address").click()
    page.get_by_text("Forget…").click()
    inspect("panel")
    page.get_by_role("link", name="Full page").click()
    expect(page.get_by_role("article")).to_be_visible()
    inspect("full page")


def test_twice_the_size_still_fits(visit: Visit, memory: Memory) -> None:
    """200 % zoom halves the width a page has; larger letters alone must not break it either."""
    page = visit.page
    visit.sign_in("ada")
    page.set_viewport_size({"width": 640, "height": 450})
    visit.go("/memories/")
    page.evaluate("document.documentElement.style.setProperty('font-size', '150%')")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("a.row").first.click()
    expect(page.get_by_role("button", name="Close")).to_be_in_viewport()
