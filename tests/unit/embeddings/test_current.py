"""The embedder of this process: nothing it does fails a save, and nothing it says holds a text."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from memories.embeddings import current
from memories.embeddings.base import EmbeddingFailed
from memories.embeddings.build import build
from memories.embeddings.cache import VectorCache
from memories.embeddings.hashing import HashingEmbedder
from memories.store import embedding_models
from omnia.config import ConfigError, EmbeddingConfig

SECRET = "Alice is allergic to peanuts"


class Counting(HashingEmbedder):
    def __init__(self) -> None:
        self.calls = 0

    def embed_query(self, text):
        self.calls += 1
        return super().embed_query(text)


class Flaky(HashingEmbedder):
    """Fails the first time only."""

    def __init__(self) -> None:
        self.answers = iter([None])

    def embed_query(self, text):
        for _ in self.answers:
            raise EmbeddingFailed("down")
        return super().embed_query(text)


class Failing(HashingEmbedder):
    def __init__(self, error: Exception) -> None:
        self.error = error

    def embed_query(self, text):
        raise self.error


def test_a_query_is_embedded_once() -> None:
    embedder = Counting()
    with current.use(embedder):
        first, second = current.seat().query_vector("tea"), current.seat().query_vector("tea")
    assert embedder.calls == 1
    assert first is second is not None


def test_another_embedder_does_not_see_the_vectors_of_the_first() -> None:
    for embedder in (Counting(), Counting()):
        with current.use(embedder):
            current.seat().query_vector("tea")
        assert embedder.calls == 1


def test_a_failed_query_is_asked_again() -> None:
    with current.use(Flaky()):
        assert current.seat().query_vector("tea") is None
        assert current.seat().query_vector("tea") is not None


@pytest.mark.parametrize("error", [EmbeddingFailed("down"), RuntimeError(SECRET), MemoryError(), KeyError(SECRET)])
def test_no_failure_passes_and_no_text_is_logged(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), current.use(Failing(error)):
        assert current.seat().passage_vector(SECRET) is None
        assert current.seat().query_vector(SECRET) is None
    assert len(caplog.records) == 2
    assert SECRET not in caplog.text
    assert all(record.exc_info is None for record in caplog.records)


@pytest.mark.parametrize("error", [RuntimeError(SECRET), ValueError(SECRET)])
def test_whatever_a_model_throws_is_its_failure(error: Exception) -> None:
    with current.use(Failing(error)), pytest.raises(EmbeddingFailed) as failure:
        current.seat().passage_vectors([SECRET])
    assert SECRET not in str(failure.value)


def test_without_an_embedder_nothing_has_a_vector() -> None:
    with current.use(None):
        assert current.seat().embedder is None
        assert current.seat().passage_vector("tea") is None
        assert current.seat().query_vector("tea") is None
        assert current.seat().passage_vectors(["tea", "milk"]) == [None, None]
        assert current.seat().model_row_id() is None
        current.warm()


@pytest.fixture
def starting(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[EmbeddingConfig], None]:
    """Makes this a process that has just started with these settings, beside a store without any vector."""

    def start(embedding: EmbeddingConfig) -> None:
        settings.OMNIA = replace(settings.OMNIA, embedding=embedding)
        monkeypatch.setattr(embedding_models, "in_force", lambda: None)
        monkeypatch.setattr(current, "_process", current._Process())

    return start


def test_an_embedder_that_cannot_be_built_says_so_at_the_start_and_fails_no_save(starting: Any) -> None:
    starting(EmbeddingConfig("openai"))
    assert current.seat().passage_vector("tea") is None
    assert current.seat().embedder is not None
    with pytest.raises(ConfigError, match="OMNIA_EMBEDDING_URL"):
        current.warm()


def test_two_first_requests_build_one_embedder(starting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[HashingEmbedder] = []
    both, inside = threading.Barrier(2), threading.Barrier(2)

    def slow_build(config: EmbeddingConfig) -> HashingEmbedder:
        with suppress(threading.BrokenBarrierError):
            inside.wait(0.2)  # for a second builder, who must not come
        built.append(HashingEmbedder())
        return built[-1]

    def ask() -> None:
        both.wait()
        current.seat().query_vector("tea")

    starting(EmbeddingConfig("hashing"))
    monkeypatch.setattr(current, "build", slow_build)
    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1


def test_the_cache_forgets_what_was_not_asked_for_longest() -> None:
    cache = VectorCache(size=2)
    tea, milk, salt = (np.ones(2, dtype=np.float32) for _ in range(3))
    cache.put("tea", tea)
    cache.put("milk", milk)
    assert cache.get("tea") is tea
    cache.put("salt", salt)
    assert cache.get("milk") is None
    assert cache.get("tea") is tea
    assert cache.get("salt") is salt


HTTP: dict[str, Any] = {"url": "http://127.0.0.1:1", "model": "m", "dimensions": 8}


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (EmbeddingConfig("hashing"), "hashing-384"),
        (EmbeddingConfig("local"), "all-MiniLM-L6-v2-int8-384"),
        (EmbeddingConfig("openai", **HTTP), "openai-m-8"),
        (EmbeddingConfig("ollama", **HTTP), "ollama-m-8"),
    ],
)
def test_each_provider_has_a_name_of_its_own(config: EmbeddingConfig, name: str) -> None:
    embedder = build(config)
    assert embedder is not None
    assert embedder.name == name


def test_provider_none_is_none() -> None:
    assert build(EmbeddingConfig("none", query_prefix="q")) is None


def test_prefixes_of_the_settings_are_applied() -> None:
    plain, prefixed = build(EmbeddingConfig("hashing")), build(EmbeddingConfig("hashing", passage_prefix="passage: "))
    assert plain is not None
    assert prefixed is not None
    assert plain.name != prefixed.name
    (bare,), (introduced,) = plain.embed_passages(["tea"]), prefixed.embed_passages(["tea"])
    assert bare is not None
    assert introduced is not None
    assert not np.array_equal(bare, introduced)


@pytest.mark.parametrize(
    ("wrong", "variable"),
    [
        ({"url": ""}, "OMNIA_EMBEDDING_URL"),
        ({"url": "ftp://host"}, "OMNIA_EMBEDDING_URL"),
        ({"url": "localhost:11434"}, "OMNIA_EMBEDDING_URL"),
        ({"url": "http://"}, "OMNIA_EMBEDDING_URL"),
        ({"model": ""}, "OMNIA_EMBEDDING_MODEL"),
        ({"model": "m" * 201}, "OMNIA_EMBEDDING_MODEL"),
    ],
)
@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_a_wrong_setting_is_named(provider, wrong: dict[str, str], variable: str) -> None:
    with pytest.raises(ConfigError, match=variable):
        build(EmbeddingConfig(provider, **{**HTTP, **wrong}))
