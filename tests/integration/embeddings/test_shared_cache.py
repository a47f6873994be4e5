"""Query vectors shared between processes: keyed without a text, checked as they come, never in the way (behaviour K)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import redis

from memories.embeddings.base import Vector
from memories.embeddings.hashing import HashingEmbedder
from memories.embeddings.seat import Seat
from memories.embeddings.shared_cache import LIVES_SECONDS, SharedVectors
from tests.support import Table

TEXT = "where does the person with the secret live"


def vector(text: str = TEXT) -> Vector:
    made = HashingEmbedder().embed_query(text)
    assert made is not None
    return made


@pytest.fixture
def server(settings: Any) -> Any:
    client = redis.Redis.from_url(settings.REDIS_URL)
    for key in client.keys("omnia:query:*"):
        client.delete(key)
    return client


@pytest.mark.usefixtures("server")
def test_what_one_process_made_another_finds() -> None:
    SharedVectors("m", dimensions=384).put(TEXT, vector())
    found = SharedVectors("m", dimensions=384).get(TEXT)
    assert found is not None
    assert np.allclose(found, vector(), atol=1e-6)
    assert SharedVectors("m", dimensions=384).get(f"{TEXT}?") is None
    assert SharedVectors("another model", dimensions=384).get(TEXT) is None


def test_no_text_is_there_and_it_is_gone_after_a_while(server: Any) -> None:
    SharedVectors("m", dimensions=384).put(TEXT, vector())
    [key] = server.keys("omnia:query:*")
    assert not any(word.encode() in key for word in TEXT.split())
    assert 0 < server.ttl(key) <= LIVES_SECONDS


def test_without_the_key_nobody_can_try_texts(server: Any, settings: Any) -> None:
    SharedVectors("m", dimensions=384).put(TEXT, vector())
    settings.SECRET_KEY = "a guess"
    assert SharedVectors("m", dimensions=384).get(TEXT) is None


@pytest.mark.parametrize("stored", [b"", b"x" * 4, b"\0" * 4 * 384, b"\xff" * 4 * 384, b"x" * (4 * 384 + 1)])
def test_what_is_no_vector_is_none(server: Any, stored: bytes) -> None:
    shared = SharedVectors("m", dimensions=384)
    shared.put(TEXT, vector())
    [key] = server.keys("omnia:query:*")
    server.set(key, stored)
    assert shared.get(TEXT) is None


def test_redis_that_is_away_is_asked_again_after_a_rest(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    clock = [1000.0]
    shared = SharedVectors("m", dimensions=384, clock=lambda: clock[0])
    assert shared.get(TEXT) is None
    shared.put(TEXT, vector())
    assert shared._rests_until > clock[0]


@pytest.mark.usefixtures("server")
def test_a_question_is_embedded_once_for_all_processes() -> None:
    def process() -> Table:
        table = Table()
        seat = Seat(table, shares=True)
        seat.query_vector("the first question of a process tells it the dimension")
        seat.query_vector(TEXT)
        return table

    assert TEXT in process().asked
    assert TEXT not in process().asked
