"""The rate limit: per caller and minute, counted in Redis, and open while nobody counts (security case R 325)."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest
import redis

from omnia.api import ratelimit
from omnia.core.errors import RateLimited
from tests.callers import caller

ECHO = "/api/v1/echo"


@pytest.fixture(autouse=True)
def one_minute(monkeypatch):
    """All requests of a test fall into one minute; each test has its own counter."""
    monkeypatch.setattr("omnia.api.ratelimit.time.time", lambda: 1_800_000_010.0)
    ratelimit._counter.cache_clear()
    yield
    ratelimit._counter.cache_clear()


@pytest.fixture
def limit(settings):
    def set_limit(number: int) -> None:
        settings.OMNIA = replace(settings.OMNIA, rate_limit_per_minute=number)

    return set_limit


@pytest.mark.django_db
@pytest.mark.urls("tests.integration.api.routes")
def test_one_too_many_is_told_when_to_come_back(limit):
    limit(2)
    client, other = caller(), caller()
    assert [client.get(ECHO).status_code for _ in range(3)] == [200, 200, 429]
    answer = client.get(ECHO)
    assert (answer.json()["code"], answer["Retry-After"]) == ("rate_limited", "50")
    assert other.get(ECHO).status_code == 200


def test_the_next_minute_starts_anew(limit, monkeypatch):
    limit(1)
    name = str(uuid4())
    ratelimit.count(name)
    with pytest.raises(RateLimited):
        ratelimit.count(name)
    monkeypatch.setattr("omnia.api.ratelimit.time.time", lambda: 1_800_000_070.0)
    ratelimit.count(name)


def test_zero_is_no_limit_and_asks_nobody(limit, settings):
    limit(0)
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    for _ in range(3):
        ratelimit.count("anyone")


def test_a_count_goes_with_its_minute(limit, settings):
    limit(5)
    name = str(uuid4())
    ratelimit.count(name)
    with redis.Redis.from_url(settings.REDIS_URL) as store:
        (key,) = store.keys(f"omnia:rate:{name}:*")
        assert 0 < store.ttl(key) <= 60


def test_while_redis_is_away_nobody_is_limited_and_it_is_left_in_peace(limit, settings, monkeypatch):
    limit(1)
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    ratelimit.count("anyone")
    asked = []
    monkeypatch.setattr(redis.Redis, "pipeline", lambda *_, **__: asked.append(1))
    ratelimit.count("anyone")
    assert not asked
