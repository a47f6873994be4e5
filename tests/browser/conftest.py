"""A real browser before a running server: Debian's chromium, headless, that talks to this host only."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.conf import settings as django_settings
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Response
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from policies.services.access import clear_cache
from tests.integration.dashboard.scene import QUICK_HASHER, browser_of, plain_static_files

CHROMIUM = os.environ.get("OMNIA_CHROMIUM") or shutil.which("chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.effectiveDirective} ${event.blockedURI}`);
});
"""

# Playwright's synchronous interface keeps an event loop in this thread, which Django takes for async code.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Last in every worker: the browser's event loop stays in the thread, and no other can be run there after it.
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    if CHROMIUM is None:
        missing = pytest.mark.skip(reason="no chromium: install it, or name it in OMNIA_CHROMIUM")
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(missing)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_type_launch_args, "executable_path": CHROMIUM, "args": FLAGS}


@pytest.fixture(autouse=True)
def quick_pages(settings: Settings) -> None:
    settings.STORAGES = plain_static_files(settings.STORAGES)
    settings.PASSWORD_HASHERS = [QUICK_HASHER]
    clear_cache()


@dataclass
class Visit:
    """A page of the running server, and what a person would not see: what went wrong behind it."""

    page: Page
    server: str
    expected: set[int] = field(default_factory=set)
    """Statuses of pages this test means to meet; any other above 399 is a fault."""
    faults: list[str] = field(default_factory=list)

    def go(self, address: str) -> None:
        self.page.goto(self.server + address)

    def sign_in(self, username: str) -> None:
        """A session as signing in leaves it; the sign-in page has tests of its own."""
        name = django_settings.SESSION_COOKIE_NAME
        cookie = browser_of(username).cookies[name].value
        self.page.context.add_cookies([{"name": name, "value": cookie, "url": self.server}])

    def check(self) -> None:
        """Nothing was blocked, nothing failed, nothing left this host."""
        assert self.faults == []
        assert self.page.evaluate("window.violations") == []

    def note_request(self, address: str) -> None:
        if not address.startswith((self.server, "data:", "blob:")):
            self.faults.append(f"asked {address}")

    def note_response(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.faults.append(f"{response.status} {response.url}")

    def note_console(self, message: ConsoleMessage) -> None:
        meant = any(re.search(rf"\b(status of|Code) {status}\b", message.text) for status in self.expected)
        if message.type == "error" and not meant:
            self.faults.append(message.text)


@pytest.fixture
def visit(context: BrowserContext, live_server: LiveServer) -> Iterator[Visit]:
    """A new browser window; the test fails when anything went wrong behind the page."""
    context.add_init_script(_WATCH)
    context.set_default_timeout(5000)
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    visit = Visit(page, live_server.url)
    page.on("request", lambda request: visit.note_request(request.url))
    page.on("response", visit.note_response)
    page.on("console", visit.note_console)
    page.on("pageerror", lambda error: visit.faults.append(str(error)))
    yield visit
    visit.check()
