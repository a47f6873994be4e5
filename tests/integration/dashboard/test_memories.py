"""The Memories page: exact scopes, filters over everything, and nothing of anybody in an address."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from memories.embeddings.current import use
from memories.models import Entity, Memory, Wording
from omnia.audit.models import AuditRow
from policies.models import Workspace
from tests.integration.dashboard.scene import PERSON, browser_of, remembered, shown, workspace
from tests.support import fill

pytestmark = pytest.mark.django_db

HOSTILE = "</script><img src=x onerror=alert(1)>\"'"


@pytest.fixture
def place() -> Workspace:
    return workspace("research", ada="viewer", eve="editor", olga="owner")


@pytest.fixture
def ada(place: Workspace) -> Client:
    return browser_of("ada")


def listed(client: Client, address: str, **query: Any) -> list[str]:
    """The bodies in the list at an address, in its order."""
    page = client.get(address, query or None).content.decode()
    return [unescape(each) for each in re.findall(r'<span class="row-content">(.*?)</span>', page, re.DOTALL)]


def view_of(address: str) -> str:
    return address.partition("view=")[2]


class TestScopes:
    """Each tier shows its own rows; not given means none, never any."""

    @pytest.fixture(autouse=True)
    def memories(self, place: Workspace) -> None:
        remembered(place, "institutional")
        remembered(place, "agent", agent="bot")
        remembered(place, "another agent", agent="other-bot")
        remembered(place, "user", user=PERSON)
        remembered(place, "user for agent", user=PERSON, agent="bot")
        remembered(place, "another user", user="somebody else")

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({"tier": "institutional"}, {"institutional"}),
            ({"tier": "agent", "agent": "bot"}, {"agent"}),
            ({"tier": "agent", "agent": "bot", "shared": "on"}, {"agent", "institutional"}),
            ({"tier": "user", "user": PERSON, "agents": "any"}, {"user", "user for agent"}),
            ({"tier": "user", "user": PERSON}, {"user", "user for agent"}),
            ({"tier": "user", "user": PERSON, "agents": "none"}, {"user"}),
            ({"tier": "user", "user": PERSON, "agents": "one", "agent": "bot"}, {"user for agent"}),
            (
                {"tier": "user", "user": PERSON, "agents": "one", "agent": "bot", "shared": "on"},
                {"user for agent", "institutional", "agent"},
            ),
            (
                {"tier": "user", "user": PERSON, "agents": "any", "shared": "on"},
                {"user", "user for agent", "institutional"},
            ),
            ({"tier": "institutional", "user": PERSON, "agent": "bot", "shared": "on"}, {"institutional"}),
            ({"tier": "user", "user": "nobody known"}, set()),
        ],
    )
    def test_a_scope_shows_its_rows_only(self, ada: Client, fields: dict[str, str], expected: set[str]) -> None:
        assert set(listed(ada, shown(ada, **fields))) == expected

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"tier": "user"}, "Give the user&#x27;s id."),
            ({"tier": "user", "user": "  "}, "Give the user&#x27;s id."),
            ({"tier": "user", "user": PERSON, "agents": "one"}, "Give the agent&#x27;s id."),
            ({"tier": "agent"}, "Give the agent&#x27;s id."),
            ({"tier": "user", "user": "x" * 254}, "at most 253 characters"),
            ({"tier": "user", "user": "nul\x00"}, "Null characters"),
        ],
    )
    def test_a_scope_without_its_id_shows_nothing(self, ada: Client, fields: dict[str, str], said: str) -> None:
        answer = ada.post("/memories/scope/", fields)
        page = answer.content.decode()
        assert said in page
        assert 'aria-invalid="true"' in page
        assert "row-content" not in page

    def test_the_scope_chosen_last_opens_again(self, ada: Client) -> None:
        shown(ada, tier="agent", agent="bot")
        assert listed(ada, "/memories/") == ["agent"]

    def test_two_tabs_stay_two(self, ada: Client) -> None:
        first = shown(ada, tier="user", user=PERSON)
        second = shown(ada, tier="user", user="somebody else")
        assert listed(ada, first) != listed(ada, second) == ["another user"]

    def test_a_view_of_another_session_opens_nothing(self, ada: Client) -> None:
        address = shown(ada, tier="user", user=PERSON)
        answer = browser_of("olga").get(address)
        assert answer["Location"] == "/memories/"

    def test_only_so_many_scopes_stay_open(self, ada: Client) -> None:
        first = shown(ada, tier="user", user=PERSON)
        for number in range(20):
            shown(ada, tier="user", user=f"user {number}")
        assert ada.get(first)["Location"] == "/memories/"


class TestFinding:
    """Filters and the search reach every row of the scope, not the page on the screen (field fault 113)."""

    @pytest.fixture(autouse=True)
    def without_vectors(self) -> Any:
        with use(None):
            yield

    def test_newest_first_in_pages_without_gap_or_repeat(self, place: Workspace, ada: Client) -> None:
        fill(place.uid, 60, text="number {i}")
        address, seen = "/memories/", []
        while address:
            page = ada.get(address).content.decode()
            seen += re.findall(r"number (\d+)<", page)
            assert "<strong>60</strong>" in page
            more = re.search(r'class="btn" href="([^"]+)" hx-get="\1" hx-target="#more"', page)
            address = unescape(more[1]) if more else ""
        assert seen == [str(number) for number in range(60, 0, -1)]

    def test_htmx_gets_the_next_rows_alone(self, place: Workspace, ada: Client) -> None:
        fill(place.uid, 30)
        page = ada.get("/memories/", headers={"HX-Request": "true", "HX-Target": "more"}).content.decode()
        assert page.lstrip().startswith("<li>")
        assert "<html" not in page

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ({"type": "preference"}, ["tea"]),
            ({"category": "memory:health"}, ["allergy"]),
            ({"purpose": "support"}, ["allergy"]),
            ({"confidence": "0.9"}, ["tea"]),
            ({"type": "preference", "confidence": "0.5"}, ["tea"]),
            ({"type": "preference", "category": "memory:health"}, []),
            ({"type": "no such type"}, []),
            ({"q": "allergy"}, ["allergy"]),
            ({"q": "allergy", "type": "preference"}, []),
            ({"q": "  "}, ["tea", "allergy"] + [f"filler number {number}" for number in range(100, 77, -1)]),
        ],
    )
    def test_a_filter_finds_a_row_far_down(
        self, place: Workspace, ada: Client, query: dict[str, str], expected: list[str]
    ) -> None:
        fill(place.uid, 100, first=datetime(2026, 1, 1, tzinfo=UTC))
        early = (
            datetime(2025, 1, 1, tzinfo=UTC)
            if "q" not in query or query["q"].strip()
            else datetime(2026, 3, 1, tzinfo=UTC)
        )
        remembered(place, "allergy", consent_category="memory:health", purpose="support", updated_at=early)
        late = early + timedelta(days=1)
        remembered(place, "tea", type="preference", confidence=0.95, updated_at=late)
        assert listed(ada, "/memories/", **query) == expected

    def test_a_search_goes_on_where_it_stopped(self, place: Workspace, ada: Client) -> None:
        fill(place.uid, 40, text="tea number {i}")
        fill(place.uid, 5, text="coffee")
        first = ada.get("/memories/", {"q": "tea"}).content.decode()
        assert "<strong>40</strong> found" in first
        onward = re.search(r'href="([^"]+offset=25[^"]*)"', first)
        assert onward is not None
        assert len(listed(ada, unescape(onward[1]))) == 15

    @pytest.mark.parametrize(
        "query",
        [
            {"cursor": "not-a-cursor"},
            {"offset": "-1"},
            {"offset": "many"},
            {"confidence": "nan"},
            {"confidence": "2"},
            {"category": "no such category"},
            {"q": "x" * 1001},
        ],
    )
    def test_a_filter_that_cannot_be_meant_is_a_bad_request(self, ada: Client, query: dict[str, str]) -> None:
        assert ada.get("/memories/", query).status_code == 400

    def test_nothing_found_says_how_to_widen(self, place: Workspace, ada: Client) -> None:
        remembered(place, "tea")
        page = ada.get("/memories/", {"q": "coffee"}).content.decode()
        assert "Nothing matches" in page
        assert "Clear filters" in page

    def test_an_empty_scope_shows_the_command_that_saves(self, place: Workspace, ada: Client) -> None:
        page = unescape(ada.get(shown(ada, tier="user", user="o'neill", agents="one", agent="bot")).content.decode())
        assert "curl http://testserver/api/v1/memories" in page
        assert f'"workspace_id": "{place.uid}"' in page
        assert """"virtual_user_id": "o'"'"'neill\"""" in page, "the shell reads it as one word"
        assert '"agent_id": "bot"' in page


class TestOpening:
    """One memory with everything it holds."""

    def test_a_page_of_its_own_says_everything(self, place: Workspace, ada: Client) -> None:
        memory = remembered(
            place,
            "Prefers short summaries.",
            user=PERSON,
            agent="bot",
            title="Summaries",
            summary="Short.",
            type="preference",
            confidence=0.92,
            consent_category="memory:preferences",
            purpose="support",
            container="onboarding",
            session_id="session-9",
            turn_range=[4, 6],
            evidence_count=3,
            metadata={"channel": "email"},
            expires_at=datetime.now(UTC) + timedelta(days=179, hours=1),
        )
        Wording.objects.create(
            memory=memory,
            type="preference",
            content="Prefers long ones.",
            confidence=0.7,
            said_at=datetime(2026, 1, 1, tzinfo=UTC),
            reason="structured_key",
            actor="token:assistant",
        )
        address = shown(ada, tier="user", user=PERSON)
        page = unescape(ada.get(f"/memories/{memory.id}/?view={view_of(address)}").content.decode())
        for text in (
            "Prefers short summaries.", "Summaries", "Short.", "User for agent", "preference", "92%", PERSON, "bot",
            "memory:preferences", "support", "onboarding", "session-9", "4 to 6", "channel", "email", str(memory.id),
            "Prefers long ones.", "replaced under the same about key by token:assistant",
        ):  # fmt: skip
            assert text in page, text
        assert f"in 179 days ({memory.expires_at:%Y-%m-%d})" in page

    def test_opening_is_recorded_with_who_and_without_what(self, place: Workspace, ada: Client) -> None:
        memory = remembered(place, "Secret plans.", user=PERSON)
        ada.get(f"/memories/{memory.id}/?view={view_of(shown(ada, tier='user', user=PERSON))}")
        row = AuditRow.objects.get(event="memory_accessed")
        assert (row.actor, row.memory_id, row.workspace_id) == ("user:ada", memory.id, place.uid)
        assert PERSON not in str(row.__dict__)
        assert "Secret" not in str(row.__dict__)

    def test_listing_is_no_opening(self, place: Workspace, ada: Client) -> None:
        remembered(place, "Tea.")
        ada.get("/memories/")
        assert not AuditRow.objects.filter(event="memory_accessed").exists()

    def test_the_panel_is_a_part_of_the_page(self, place: Workspace, ada: Client) -> None:
        memory = remembered(place, "Tea.")
        page = ada.get(f"/memories/{memory.id}/", headers={"HX-Request": "true", "HX-Target": "panel"}).content.decode()
        assert "<html" not in page
        assert "Tea." in page

    def test_a_shared_row_of_a_users_list_opens(self, place: Workspace, ada: Client) -> None:
        shared, agents = remembered(place, "For all."), remembered(place, "Of the bot.", agent="bot")
        address = shown(ada, tier="user", user=PERSON, agents="one", agent="bot", shared="on")
        for memory in (shared, agents):
            assert ada.get(f"/memories/{memory.id}/?view={view_of(address)}").status_code == 200

    def test_a_deep_link_asks_for_the_scope_and_then_opens(self, place: Workspace, ada: Client) -> None:
        memory = remembered(place, "Tea in the morning.", user=PERSON)
        answer = ada.get(f"/memories/{memory.id}/")
        assert answer.status_code == 404
        assert "not in the scope you have open" in answer.content.decode()
        address = shown(ada, tier="user", user=PERSON, memory=str(memory.id))
        assert address.startswith(f"/memories/{memory.id}/?view=")
        assert "Tea in the morning." in ada.get(address).content.decode()

    @pytest.mark.parametrize("gone", ["expired", "forgotten", "unknown"])
    def test_what_is_gone_is_not_there(self, place: Workspace, ada: Client, gone: str) -> None:
        past = datetime(2026, 1, 1, tzinfo=UTC)
        fields: dict[str, dict[str, Any]] = {
            "expired": {"expires_at": past},
            "forgotten": {"retired_at": past, "retired_as": "forgotten"},
        }
        memory = remembered(place, "Tea.", **fields.get(gone, {}))
        ident = uuid4() if gone == "unknown" else memory.id
        assert ada.get(f"/memories/{ident}/").status_code == 404
        if gone != "unknown":
            assert listed(ada, "/memories/") == []


class TestForgetting:
    """Editors forget what is a user's, owners also what is shared (design: Roles)."""

    @pytest.mark.parametrize(
        ("who", "owner", "status"),
        [
            ("ada", {"user": PERSON}, 403),
            ("eve", {"user": PERSON}, 302),
            ("olga", {"user": PERSON}, 302),
            ("ada", {}, 403),
            ("eve", {}, 403),
            ("olga", {}, 302),
            ("eve", {"agent": "bot"}, 403),
            ("olga", {"agent": "bot"}, 302),
        ],
    )
    def test_who_may_forget_what(self, place: Workspace, who: str, owner: dict[str, str], status: int) -> None:
        memory, client = remembered(place, "Tea.", **owner), browser_of(who)
        address = shown(client, tier=next(iter(owner), "institutional"), **owner)
        page = client.get(f"/memories/{memory.id}/?view={view_of(address)}").content.decode()
        assert ("Forget…" in page) == (status == 302)
        assert client.post(f"/memories/{memory.id}/forget/?view={view_of(address)}").status_code == status
        memory.refresh_from_db()
        assert (memory.retired_as == "forgotten") == (status == 302)

    def test_it_leads_back_to_the_list_with_its_filters(self, place: Workspace) -> None:
        memory, client = remembered(place, "Tea."), browser_of("olga")
        client.get("/memories/")
        back = "view=old&q=tea&type=fact&next=//evil.example"
        answer = client.post(f"/memories/{memory.id}/forget/", {"back": back})
        assert re.fullmatch(rf"/memories/\?view=[\w-]+&q=tea&type=fact&forgotten={memory.id}", answer["Location"])
        page = client.get(answer["Location"]).content.decode()
        assert 'role="status">Forgotten.' in page

    def test_the_trash_is_all_that_happens(self, place: Workspace) -> None:
        memory, client = remembered(place, "Tea."), browser_of("olga")
        client.get("/memories/")
        client.post(f"/memories/{memory.id}/forget/")
        assert Memory.objects.filter(id=memory.id).exists()
        assert client.post(f"/memories/{memory.id}/forget/").status_code == 404


class TestTakingBack:
    """Whoever may forget may undo it, as long as the trash keeps the memory."""

    @pytest.mark.parametrize(
        ("who", "owner", "status"),
        [("ada", {"user": PERSON}, 403), ("eve", {"user": PERSON}, 302), ("eve", {}, 403), ("olga", {}, 302)],
    )
    def test_who_may_undo_what(self, place: Workspace, who: str, owner: dict[str, str], status: int) -> None:
        memory, client = remembered(place, "Tea.", **owner, **forgotten()), browser_of(who)
        address = shown(client, tier=next(iter(owner), "institutional"), **owner)
        page = client.get(f"{address}&forgotten={memory.id}").content.decode()
        assert (">Undo<" in page) == (status == 302)
        assert client.post(f"/memories/{memory.id}/restore/?view={view_of(address)}").status_code == status
        memory.refresh_from_db()
        assert (memory.retired_as is None) == (status == 302)

    def test_the_memory_is_opened_and_nothing_is_left_to_undo(self, place: Workspace) -> None:
        memory, client = remembered(place, "Tea."), browser_of("olga")
        client.get("/memories/")
        left = client.post(f"/memories/{memory.id}/forget/")["Location"]
        assert ">Undo<" in client.get(left).content.decode()
        answer = client.post(f"/memories/{memory.id}/restore/")
        assert answer["Location"].startswith(f"/memories/{memory.id}/?view=")
        assert "Taken back." in client.get(answer["Location"]).content.decode()
        assert ">Undo<" not in client.get(left).content.decode()

    def test_its_own_address_offers_it_too(self, place: Workspace) -> None:
        memory, client = remembered(place, "Tea.", **forgotten()), browser_of("olga")
        answer = client.get(f"/memories/{memory.id}/")
        assert answer.status_code == 404
        assert ">Undo<" in answer.content.decode()
        assert "Tea." not in answer.content.decode()

    def test_of_another_scope_or_purged_there_is_nothing_to_undo(self, place: Workspace) -> None:
        client = browser_of("olga")
        client.get("/memories/")
        theirs = remembered(place, "Tea.", user=PERSON, **forgotten())
        old = remembered(place, "Tea.", **forgotten(days=30))
        for memory in (theirs, old):
            assert ">Undo<" not in client.get(f"/memories/?forgotten={memory.id}").content.decode()
            assert client.post(f"/memories/{memory.id}/restore/").status_code == 404

    def test_what_stands_in_its_place_is_told(self, place: Workspace) -> None:
        entity = Entity.objects.create(workspace=place, kind="user", key="city")
        memory = remembered(place, "Lyon.", entity=entity, **forgotten())
        kept = remembered(place, "Rome.", entity=entity)
        client = browser_of("olga")
        answer = client.post(f"/memories/{memory.id}/restore/", follow=True)
        assert 'class="alert alert-bad"' in answer.content.decode()
        assert str(kept.id) in answer.content.decode()

    def test_without_a_trash_it_is_said_all_the_same(self, place: Workspace, settings: Any) -> None:
        settings.OMNIA = replace(settings.OMNIA, trash_retention=timedelta(0))
        memory, client = remembered(place, "Tea."), browser_of("olga")
        client.get("/memories/")
        page = client.post(f"/memories/{memory.id}/forget/", follow=True).content.decode()
        assert "<p>Forgotten." in page
        assert ">Undo<" not in page


def forgotten(*, days: int = 0) -> dict[str, Any]:
    return {"retired_as": "forgotten", "retired_at": datetime.now(UTC) - timedelta(days=days)}


class TestPrivacy:
    """What a memory or a person is stays inside the page (security cases 261 and 314)."""

    def test_a_user_id_is_in_no_address(self, place: Workspace) -> None:
        client = browser_of("olga")
        fill(place.uid, 60, user=PERSON)
        address = shown(client, tier="user", user=PERSON, agents="any")
        seen = {address}
        for headers in (
            {},
            {"HX-Request": "true", "HX-Target": "results"},
            {"HX-Request": "true", "HX-Target": "more"},
        ):
            answer = client.get(address, {"q": "filler"} if headers else None, headers=headers)
            seen |= set(re.findall(r'(?:href|src|action|hx-get|hx-post|data-text)="([^"]*)"', answer.content.decode()))
            seen.add(answer.get("HX-Replace-Url", "/"))
        opened = next(each for each in seen if re.match(r"/memories/[0-9a-f-]{36}/", each))
        page = client.get(unescape(opened)).content.decode()
        seen |= set(re.findall(r'(?:href|src|action|hx-get|hx-post|data-text)="([^"]*)"', page))
        assert PERSON in page
        assert len(seen) > 30
        assert not [each for each in seen if PERSON in each]

    def test_a_hostile_memory_is_text_everywhere(self, place: Workspace) -> None:
        memory = remembered(
            place, HOSTILE, user=HOSTILE, agent=HOSTILE, title=HOSTILE, summary=HOSTILE, type=HOSTILE, purpose=HOSTILE,
            container=HOSTILE, session_id=HOSTILE, metadata={HOSTILE: HOSTILE, "list": [HOSTILE]},
        )  # fmt: skip
        Wording.objects.create(
            memory=memory, type="fact", content=HOSTILE, confidence=1, said_at=datetime(2026, 1, 1, tzinfo=UTC),
            reason="edited", actor=HOSTILE,
        )  # fmt: skip
        client = browser_of("olga")
        address = shown(client, tier="user", user=HOSTILE, agents="one", agent=HOSTILE)
        one = f"/memories/{memory.id}/?view={view_of(address)}"
        pages = [
            client.get(address),
            client.get(address, {"view": view_of(address), "q": HOSTILE, "type": HOSTILE, "purpose": HOSTILE}),
            client.get(one),
            client.get(one, headers={"HX-Request": "true"}),
            client.get(shown(client, tier="user", user=HOSTILE + "2")),
            client.post("/memories/scope/", {"tier": HOSTILE, "user": HOSTILE, "agents": "one", "memory": HOSTILE}),
        ]
        for answer in pages:
            page = answer.content.decode()
            assert answer.status_code == 200
            assert "<img src=x" not in page
            assert "&lt;img src=x onerror=alert(1)&gt;" in page
