"""What `make run` prints."""

from __future__ import annotations

import io
import json
import re
import shlex

import pytest

from omnia.quickstart.address import Addresses
from omnia.quickstart.credentials import Credentials, DemoUser
from omnia.quickstart.panel import render, wants_colour

URL, MCP_URL = "http://127.0.0.1:8001", "http://127.0.0.1:8002/mcp"
ADDRESSES = Addresses.from_env({"PORT": "8001"})
SOME = Credentials(users=(DemoUser("owner", "s3cret", "owner"),), tokens=(("owner", "omnia_abc"),))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_it_names_the_places_the_users_and_the_token() -> None:
    lines = render(SOME, addresses=ADDRESSES, colour=False).splitlines()
    assert f"  Dashboard   {URL}/" in lines
    assert f"  API         {URL}/api/v1" in lines
    assert f"  API docs    {URL}/docs" in lines
    assert f"  MCP         {MCP_URL}" in lines
    assert any(line.split() == ["owner", "s3cret", "owner"] for line in lines)
    assert "  omnia_abc" in lines


def test_its_curl_lines_are_whole_commands() -> None:
    commands = [
        shlex.split(line) for line in render(SOME, addresses=ADDRESSES, colour=True).splitlines() if "curl" in line
    ]
    assert [command[2] for command in commands] == [f"{URL}/api/v1/memories", f"{URL}/api/v1/memories/retrieve"]
    for command in commands:
        assert "Authorization: Bearer omnia_abc" in command
        assert isinstance(json.loads(command[-1]), dict)


def test_an_mcp_client_can_be_given_what_it_prints() -> None:
    text = render(SOME, addresses=ADDRESSES, colour=True)
    [config] = re.findall(r"^\{\n.*?^\}$", text, re.MULTILINE | re.DOTALL)
    assert json.loads(config) == {
        "mcpServers": {
            "omnia-memory": {
                "type": "http",
                "url": MCP_URL,
                "headers": {
                    "Authorization": "Bearer omnia_abc",
                    "X-Omnia-Workspace": "demo",
                    "X-Omnia-User-ID": "customer-1",
                },
            }
        }
    }


def test_without_colour_there_are_no_escapes() -> None:
    assert "\x1b" not in render(SOME, addresses=ADDRESSES, colour=False)
    assert "\x1b" in render(SOME, addresses=ADDRESSES, colour=True)


@pytest.mark.parametrize(
    ("stream", "env", "wanted"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"NO_COLOR": "0"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_colour_is_for_terminals(stream: io.StringIO, env: dict[str, str], wanted: bool) -> None:
    assert wants_colour(stream, env) is wanted
