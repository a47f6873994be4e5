"""The private file of passwords and tokens."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from omnia.quickstart.credentials import Credentials, DemoUser, DemoWorkspace

SOME = Credentials(
    workspaces=(DemoWorkspace("0190-uid", "demo"),),
    users=(DemoUser("admin", "secret", "platform-admin"),),
    tokens=(("admin", "omnia_a"), ("owner", "omnia_o")),
)


def test_it_comes_back_as_written(tmp_path: Path) -> None:
    file = tmp_path / "quickstart.json"
    SOME.write(file, url="http://127.0.0.1:8000", mcp_url="http://127.0.0.1:8001/mcp")
    assert Credentials.read(file) == SOME
    assert SOME.password("admin") == "secret"
    assert SOME.token("owner") == "omnia_o"
    assert SOME.password("nobody") is SOME.token("nothing") is None


def test_it_holds_what_scripts_look_for(tmp_path: Path) -> None:
    file = tmp_path / "quickstart.json"
    SOME.write(file, url="http://127.0.0.1:8000", mcp_url="http://127.0.0.1:8001/mcp")
    assert json.loads(file.read_text()) == {
        "url": "http://127.0.0.1:8000",
        "mcp_url": "http://127.0.0.1:8001/mcp",
        "docs_url": "http://127.0.0.1:8000/docs",
        "workspaces": [{"uid": "0190-uid", "name": "demo"}],
        "users": [{"username": "admin", "password": "secret", "role": "platform-admin"}],
        "tokens": {"admin": "omnia_a", "owner": "omnia_o"},
    }


def test_only_its_owner_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "quickstart.json"
    file.touch(0o666)
    before = os.umask(0)
    try:
        SOME.write(file, url="", mcp_url="")
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "{", "[]", '{"users": [{"name": "x"}]}', '{"tokens": 3}'])
def test_a_damaged_file_counts_as_empty(tmp_path: Path, text: str) -> None:
    file = tmp_path / "quickstart.json"
    file.write_text(text)
    assert Credentials.read(file) == Credentials()
    assert Credentials.read(tmp_path / "missing") == Credentials()
