"""The read-through cache: how old a value may be, who reads it, and what an outage leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError

from policies.services.fresh import RETRY_SECONDS, Fresh

LIFETIME = 20.0


class Store:
    """A store that counts its readings and fails on command, and the clock beside it."""

    def __init__(self) -> None:
        self.value, self.reads, self.down, self.now = "first", 0, False, 1000.0

    def load(self, _key: str) -> str:
        self.reads += 1
        if self.down:
            raise OperationalError("connection refused")
        return self.value

    def cache(self, fallback: Callable[[], str] | None = None) -> Fresh[str, str]:
        return Fresh(self.load, lifetime=lambda: LIFETIME, fallback=fallback, clock=lambda: self.now)


def test_a_value_is_read_once_in_its_lifetime() -> None:
    store = Store()
    cache = store.cache()
    assert [cache.get("k") for _ in range(5)] == ["first"] * 5
    assert store.reads == 1
    store.value, store.now = "second", store.now + LIFETIME - 0.001
    assert cache.get("k") == "first"
    store.now += 0.001
    assert cache.get("k") == "second"
    assert store.reads == 2


def test_each_key_has_its_own_lifetime() -> None:
    store = Store()
    cache = store.cache()
    cache.get("a")
    cache.get("b")
    cache.forget("a")
    cache.get("a")
    cache.get("b")
    assert store.reads == 3


def test_an_outage_leaves_the_last_good_value_and_is_not_hammered() -> None:
    store = Store()
    cache = store.cache(fallback=lambda: "fallback")
    cache.get("k")
    store.down, store.now = True, store.now + LIFETIME
    assert [cache.get("k") for _ in range(5)] == ["first"] * 5
    assert store.reads == 2
    store.down, store.value, store.now = False, "second", store.now + RETRY_SECONDS
    assert cache.get("k") == "second"


def test_an_outage_before_there_was_a_value_leaves_the_fallback() -> None:
    store = Store()
    store.down = True
    assert store.cache(fallback=lambda: "fallback").get("k") == "fallback"


def test_without_a_fallback_the_outage_is_the_callers() -> None:
    store = Store()
    store.down = True
    with pytest.raises(OperationalError):
        store.cache().get("k")


def test_a_fault_that_is_no_outage_is_never_hidden() -> None:
    def faulty(_key: str) -> str:
        raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        Fresh(faulty, lifetime=lambda: LIFETIME, fallback=lambda: "fallback").get("k")


def test_a_cleared_cache_reads_again() -> None:
    store = Store()
    cache = store.cache()
    cache.get("k")
    store.value = "second"
    cache.clear()
    assert cache.get("k") == "second"


def test_a_read_under_way_while_the_cache_is_cleared_is_not_kept() -> None:
    store = Store()
    cache: Fresh[str, str]

    def load(key: str) -> str:
        value = store.load(key)
        cache.clear()
        return value

    cache = Fresh(load, lifetime=lambda: LIFETIME)
    cache.get("k")
    cache.get("k")
    assert store.reads == 2


def test_many_callers_share_one_reading() -> None:
    store, everyone = Store(), threading.Barrier(8)

    def load(key: str) -> str:
        started.set()
        release.wait(5)
        return store.load(key)

    started, release = threading.Event(), threading.Event()
    cache: Fresh[str, str] = Fresh(load, lifetime=lambda: LIFETIME)

    def ask() -> str:
        everyone.wait(5)
        return cache.get("k")

    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(ask) for _ in range(8)]
        assert started.wait(5)
        release.set()
        assert {each.result(5) for each in answers} == {"first"}
    assert store.reads == 1
