"""The ports of a run: read, checked, and refused with the fix."""

from __future__ import annotations

import socket

import pytest

from omnia.quickstart.address import Address, AddressError, Addresses

Env = dict[str, str]


@pytest.mark.parametrize(
    ("env", "web", "mcp"),
    [
        ({}, 8000, 8001),
        ({"PORT": "", "OMNIA_MCP_PORT": ""}, 8000, 8001),
        ({"PORT": "9000"}, 9000, 9001),
        ({"PORT": "65535"}, 65535, 65534),
        ({"PORT": "9000", "OMNIA_MCP_PORT": "8001"}, 9000, 8001),
    ],
)
def test_the_environment_names_the_ports(env: Env, web: int, mcp: int) -> None:
    addresses = Addresses.from_env(env)
    assert (addresses.web.port, addresses.mcp.port) == (web, mcp)
    assert addresses.mcp_url == f"http://127.0.0.1:{mcp}/mcp"


@pytest.mark.parametrize("setting", ["PORT", "OMNIA_MCP_PORT"])
@pytest.mark.parametrize("text", ["0", "65536", "-1", "http", "80 ", "٨٠"])
def test_what_is_no_port_is_refused(setting: str, text: str) -> None:
    with pytest.raises(AddressError, match=f"{setting}=8001 make run"):
        Addresses.from_env({setting: text})


def test_two_servers_need_two_ports() -> None:
    with pytest.raises(AddressError, match="are both 8000"):
        Addresses.from_env({"OMNIA_MCP_PORT": "8000"})


@pytest.mark.parametrize("setting", ["PORT", "OMNIA_MCP_PORT"])
def test_a_taken_port_names_the_next(setting: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(AddressError, match=f"{port} is taken.*{setting}={port + 1} make run"):
            Addresses.from_env({"PORT": _free_port(), setting: str(port)}).checked()
    Address(port).check_free()


def test_an_mcp_port_nobody_gave_gives_way() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        asked = Addresses(Address(int(_free_port())), Address(other.getsockname()[1], "OMNIA_MCP_PORT"))
        checked = asked.checked()
    assert checked.web == asked.web
    assert checked.mcp.port != asked.mcp.port
    checked.mcp.check_free()


def _free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return str(free.getsockname()[1])
