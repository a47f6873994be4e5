"""The Audit page: who may read it, what it shows, and files that no spreadsheet computes (security case N)."""

from __future__ import annotations

import csv
import io
import json
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from omnia.audit import record
from omnia.audit.pseudonym import pseudonym
from omnia.core.actor import Actor
from omnia.core.scope import Scope
from policies.models import Workspace
from tests.integration.dashboard.scene import PERSON, browser_of, person, workspace

pytestmark = pytest.mark.django_db

MEMORY = UUID("018f0000-0000-7000-8000-000000000000")
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"]


@pytest.fixture
def place() -> Workspace:
    made = workspace("research", ada="viewer", eve="editor", olga="owner")
    record.memory_created(scope=Scope(made.uid, PERSON), actor=Actor("token:ci"), memory=MEMORY)
    record.memory_deleted(scope=Scope(made.uid, "other"), actor=Actor("user:olga"), memory=MEMORY, reason="forgotten")
    return made


@pytest.fixture
def olga(place: Workspace) -> Client:
    return browser_of("olga")


@pytest.fixture
def root(place: Workspace) -> Client:
    admin = person("root")
    admin.is_superuser = True
    admin.save()
    return browser_of("root")


def page(client: Client, **query: Any) -> str:
    answer = client.get("/audit/", query)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


@pytest.mark.parametrize(("name", "status"), [("ada", 403), ("eve", 403), ("olga", 200)])
@pytest.mark.parametrize("address", ["/audit/", "/audit/export/?format=csv"])
def test_owners_read_it(place: Workspace, name: str, status: int, address: str) -> None:
    assert browser_of(name).get(address).status_code == status
    assert ("/audit/" in browser_of(name).get("/memories/").content.decode()) == (status == 200)


def test_a_person_is_found_without_their_id_in_an_address(olga: Client) -> None:
    answer = olga.post("/audit/person/", {"user": PERSON, "event": "memory_created"})
    address = str(answer["Location"])
    assert PERSON not in address
    assert pseudonym(PERSON) in address
    found = olga.get(address).content.decode()
    assert "<strong>1</strong> event" in found
    assert PERSON not in found


def test_filters_narrow_the_page_and_the_file_alike(olga: Client) -> None:
    assert "<strong>2</strong> events" in page(olga)
    assert "<strong>1</strong> event" in page(olga, event="memory_deleted")
    assert "<strong>1</strong> event" in page(olga, actor="token:ci")
    assert "Nothing matches" in page(olga, until="2020-01-01")
    file = lines(olga.get("/audit/export/", {"format": "ndjson", "event": "memory_deleted"}))
    assert [json.loads(line)["event"] for line in file] == ["memory_deleted"]


@pytest.mark.parametrize("query", [{"since": "yesterday"}, {"person": "ann"}, {"place": "x"}, {"cursor": "x"}], ids=str)
def test_a_filter_that_means_nothing_is_refused(olga: Client, query: dict[str, str]) -> None:
    assert olga.get("/audit/", query).status_code == 400


def test_the_whole_installation_is_for_platform_admins(olga: Client, root: Client) -> None:
    facts = {"generation": 2, "changes": [{"pointer": "/spec/write/maxBodyBytes", "before": 100, "after": 200}]}
    record.policy_changed(actor=Actor("user:root"), policy="basic", metadata=facts)
    assert olga.get("/audit/", {"place": "everywhere"}).status_code == 403
    assert "Policy changed" not in page(root)
    everywhere = page(root, place="everywhere")
    assert "Policy changed" in everywhere
    assert "<del>100</del>" in everywhere
    assert "<ins>200</ins>" in everywhere


@pytest.mark.parametrize("text", FORMULAS, ids=ascii)
def test_a_spreadsheet_computes_nothing(olga: Client, place: Workspace, text: str) -> None:
    actor = Actor(text, user_agent=text)
    record.memory_updated(scope=Scope(place.uid, "u"), actor=actor, memory=MEMORY, reason=text)
    rows = list(csv.DictReader(io.StringIO("".join(lines(olga.get("/audit/export/", {"format": "csv"}))))))
    assert len(rows) == 3
    assert {rows[0]["actor"], rows[0]["reason"], rows[0]["user_agent"]} == {f"'{text}"}
    for row in rows:
        assert not any(cell.startswith(tuple("=+-@\t\r")) for cell in row.values())


def test_an_export_is_of_a_known_kind(olga: Client) -> None:
    answer = olga.get("/audit/export/", {"format": "csv"})
    assert answer["Content-Disposition"] == 'attachment; filename="audit.csv"'
    assert olga.get("/audit/export/", {"format": "xlsx"}).status_code == 400


def test_what_somebody_wrote_is_shown_as_text(olga: Client, place: Workspace) -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    record.memory_updated(scope=Scope(place.uid, "u"), actor=Actor(hostile), memory=MEMORY, metadata={hostile: hostile})
    assert hostile not in page(olga)


def lines(answer: Any) -> list[str]:
    return [part.decode() for part in answer.streaming_content]
