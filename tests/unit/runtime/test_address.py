"""The port of a run: read, checked, and refused with the fix."""

from __future__ import annotations

import socket

import pytest

from omnia.quickstart.address import Address, AddressError


@pytest.mark.parametrize(("env", "port"), [({}, 8000), ({"PORT": ""}, 8000), ({"PORT": "8001"}, 8001)])
def test_port_is_honoured(env: dict[str, str], port: int) -> None:
    assert Address.from_env(env) == Address(port)


@pytest.mark.parametrize("text", ["0", "65536", "-1", "http", "80 ", "٨٠"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(AddressError, match="PORT=8001 make run"):
        Address.from_env({"PORT": text})


def test_a_taken_port_names_the_next() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(AddressError, match=f"{port} is taken.*PORT={port + 1} make run"):
            Address(port).check_free()
    Address(port).check_free()
