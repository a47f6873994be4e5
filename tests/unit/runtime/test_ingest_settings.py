"""The `--ingest-*` settings: known words and a window that moves on, or a start that says which is wrong."""

from __future__ import annotations

import pytest

from omnia.config import ConfigError, IngestConfig, OmniaConfig


def test_the_defaults_are_the_specs() -> None:
    assert OmniaConfig.from_env({}).ingest == IngestConfig("chunk", "extractive", 200, 40)


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"OMNIA_INGEST_STRATEGY": "Chunk"}, "OMNIA_INGEST_STRATEGY"),
        ({"OMNIA_INGEST_SUMMARIZER": "llm"}, "OMNIA_INGEST_SUMMARIZER"),
        ({"OMNIA_INGEST_CHUNK_SIZE": "0"}, "OMNIA_INGEST_CHUNK_SIZE"),
        ({"OMNIA_INGEST_CHUNK_SIZE": "40"}, "OMNIA_INGEST_CHUNK_OVERLAP"),
    ],
)
def test_a_wrong_one_is_named(env: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        OmniaConfig.from_env(env)
