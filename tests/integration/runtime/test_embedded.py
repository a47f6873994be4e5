"""The embedded servers: started where they are asked for, found while they run, gone when stopped."""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from celery import Celery
from redis import Redis

from omnia.embedded.running import Running, broker_url, discover
from omnia.embedded.servers import Servers


@pytest.fixture(params=['it\'s a "short" path', "a long path " * 12, "a,comma"])
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="omnia-"))
    yield root / request.param / ".omnia"
    shutil.rmtree(root)


def test_start_find_stop_and_start_again(folder: Path) -> None:
    servers = Servers(folder, durable=False)
    servers.start_redis()
    servers.start_postgres()
    try:
        found = discover(folder)
        assert found == Running(servers.database_url, servers.redis_url)
        with psycopg.connect(found.database_url) as connection:
            connection.execute("CREATE EXTENSION vector")
            connection.execute("CREATE TABLE kept AS SELECT to_tsvector('english', 'Straße—café') AS words")
        assert Redis.from_url(found.redis_url).ping()
        Celery(broker=broker_url(found.redis_url)).connection().ensure_connection(max_retries=1)
        assert stat.S_IMODE(servers.sockets.stat().st_mode) == 0o700
    finally:
        servers.stop()
    assert discover(folder) == Running()
    assert servers.postgres is not None
    assert servers.postgres.ended
    assert servers.redis is not None
    assert servers.redis.ended

    again = Servers(folder, durable=False)
    again.start_postgres()
    try:
        assert discover(folder) == Running(again.database_url)
        with psycopg.connect(again.database_url) as connection:
            words = connection.execute("SELECT words::text FROM kept").fetchone()
        assert words == ("'café':2 'straße':1",)  # a dash parts words
    finally:
        again.stop()


def test_the_settings_that_protect_and_speed_up(settings_of: dict[str, str]) -> None:
    assert settings_of["listen_addresses"] == ""
    assert settings_of["log_min_error_statement"] == "panic"
    assert settings_of["log_error_verbosity"] == "terse"
    assert settings_of["fsync"] == "on"
    assert settings_of["jit"] == "off"
    assert settings_of["work_mem"] == "64MB"
    assert settings_of["random_page_cost"] == "1.1"


@pytest.fixture
def settings_of() -> Iterator[dict[str, str]]:
    """What a durable cluster runs with."""
    root = Path(tempfile.mkdtemp(prefix="omnia-"))
    servers = Servers(root)
    servers.start_postgres()
    try:
        with psycopg.connect(servers.database_url) as connection:
            yield dict(connection.execute("SELECT name, current_setting(name) FROM pg_settings").fetchall())
    finally:
        servers.stop()
        shutil.rmtree(root)
