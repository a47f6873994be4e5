"""From settings to an embedder (reference: OMNIA_EMBEDDING_*)."""

from __future__ import annotations

from memories.embeddings.base import Embedder, Prefixed
from memories.embeddings.hashing import HashingEmbedder
from omnia.config import EmbeddingConfig


def build(config: EmbeddingConfig) -> Embedder | None:
    """The embedder the settings name; None for `none`. Raises ConfigError and EmbeddingFailed with the fix."""
    embedder = _provider(config)
    if embedder and (config.query_prefix or config.passage_prefix):
        return Prefixed(embedder, query=config.query_prefix, passage=config.passage_prefix)
    return embedder


def _provider(config: EmbeddingConfig) -> Embedder | None:
    match config.provider:
        case "none":
            return None
        case "hashing":
            return HashingEmbedder()
        case "local":
            # Imported here: only this provider pays for the model's runtime.
            from memories.embeddings.local import LocalEmbedder

            return LocalEmbedder()
        case "openai" | "ollama":
            return _http(config)


def _http(config: EmbeddingConfig) -> Embedder:
    from memories.embeddings.http import OLLAMA, OPENAI, HttpEmbedder

    config.check()
    return HttpEmbedder(
        dialect=OPENAI if config.provider == "openai" else OLLAMA,
        url=config.url,
        model=config.model,
        api_key=config.api_key,
        dimensions=config.dimensions,
        timeout_seconds=config.timeout_seconds,
    )
