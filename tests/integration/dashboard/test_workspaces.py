"""The workspace someone works in: theirs to choose among those they may see, and none else."""

from __future__ import annotations

import pytest

from policies import permissions
from tests.integration.dashboard.scene import browser_of, person, remembered, shown, workspace

pytestmark = pytest.mark.django_db


def test_the_first_workspace_by_name_opens_and_the_choice_is_remembered() -> None:
    other = workspace("support", ada="viewer")
    workspace("research", ada="editor")
    client = browser_of("ada")
    assert "<span>research</span>" in client.get("/memories/").content.decode()
    assert client.post("/workspace/", {"workspace": str(other.uid)})["Location"] == "/"
    assert "<span>support</span>" in client.get("/memories/").content.decode()


def test_a_workspace_without_a_role_is_not_there() -> None:
    hidden = workspace("payroll", bob="owner")
    workspace("research", ada="owner")
    client = browser_of("ada")
    page = client.get("/memories/").content.decode()
    assert "payroll" not in page
    assert client.post("/workspace/", {"workspace": str(hidden.uid)}).status_code == 404
    assert client.post("/workspace/", {"workspace": "no-such"}).status_code == 404
    assert client.post("/workspace/", {}).status_code == 404


def test_a_memory_of_another_workspace_is_not_there() -> None:
    hidden = remembered(workspace("payroll", bob="viewer"), "Salaries are paid on the 25th.")
    workspace("research", ada="owner")
    answer = browser_of("ada").get(f"/memories/{hidden.id}/")
    assert answer.status_code == 404
    assert "Salaries" not in answer.content.decode()


def test_a_role_taken_away_is_gone_with_the_next_click() -> None:
    place = workspace("research", ada="owner")
    client = browser_of("ada")
    client.get("/memories/")
    place.spec = {}
    place.save()
    permissions.sync_workspace(place)
    assert "You have no workspace yet" in client.get("/memories/").content.decode()


def test_who_has_no_workspace_is_told_how_to_get_one() -> None:
    answer = browser_of("newcomer").get("/memories/")
    assert answer.status_code == 200
    assert "You have no workspace yet" in answer.content.decode()


def test_a_platform_admin_without_a_workspace_is_told_how_to_make_one() -> None:
    client = browser_of("root")
    person("root").__class__.objects.filter(username="root").update(is_superuser=True)
    page = client.get("/memories/").content.decode()
    assert "There is no workspace yet" in page
    assert "manage.py policy apply" in page
    assert "Ask an owner" not in page


def test_a_platform_admin_sees_every_workspace() -> None:
    workspace("research")
    workspace("support")
    person("root").__class__.objects.filter(username="root").update(is_superuser=True)
    page = browser_of("root").get("/memories/").content.decode()
    assert "research" in page
    assert "support" in page


def test_the_open_scopes_of_one_workspace_mean_nothing_in_another() -> None:
    first = workspace("a-first", ada="viewer")
    second = workspace("b-second", ada="viewer")
    remembered(first, "Of the first.", user="sam")
    remembered(second, "Of the second.", user="sam")
    client = browser_of("ada")
    address = shown(client, tier="user", user="sam")
    assert "Of the first." in client.get(address).content.decode()
    client.post("/workspace/", {"workspace": str(second.uid)})
    assert client.get(address)["Location"] == "/memories/"
    htmx = client.get(address, headers={"HX-Request": "true", "HX-Target": "more"})
    assert htmx["HX-Redirect"] == "/memories/"
    assert b"Of the second." not in htmx.content
