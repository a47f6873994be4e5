"""The state file, the secret, and Celery's spelling of a Redis URL."""

from __future__ import annotations

import socket
import stat
from pathlib import Path

import pytest

from omnia.embedded.running import Running, broker_url, discover, forget, note, secret_key

DATABASE = "postgresql://postgres@/omnia?host=%2Fnowhere"


@pytest.mark.parametrize("text", [None, "", "{", "[]", "{}", '{"database_url": 3}'])
def test_no_state_or_a_damaged_one_is_nothing_running(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "servers.json").write_text(text)
    assert discover(tmp_path) == Running()


def test_only_servers_that_answer_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    url = f"unix://{tmp_path}/a%20b/redis.sock?db=0"
    note(folder, database_url=DATABASE, redis_url=url)
    assert discover(folder) == Running()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "redis.sock"))
        server.listen()
        assert discover(folder) == Running(redis_url=url)
    forget(folder)
    assert discover(folder) == Running()


def test_the_secret_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    secret = secret_key(tmp_path)
    assert len(secret) > 60
    assert secret_key(tmp_path) == secret == discover(tmp_path).secret_key
    assert stat.S_IMODE((tmp_path / "secret-key").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("redis", "broker"),
    [
        ("redis://127.0.0.1:6379/3", "redis://127.0.0.1:6379/3"),
        ("rediss://:pw@host/0", "rediss://:pw@host/0"),
        ("unix:///a/redis.sock", "redis+socket:///a/redis.sock?virtual_host=0"),
        ("unix:///a%20b/redis.sock?db=3", "redis+socket:///a%20b/redis.sock?virtual_host=3"),
        ("", ""),
    ],
)
def test_the_broker_is_the_same_redis(redis: str, broker: str) -> None:
    assert broker_url(redis) == broker
