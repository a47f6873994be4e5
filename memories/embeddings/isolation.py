"""A batch with one text that the model cannot take: the others get their vectors all the same.

Whether a failure is the text's or the model's is decided by asking: a model that takes a harmless text
is well, so the fault lies in the batch, and halving the batch finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memories.embeddings.base import EmbeddingFailed, Vector

Embed = Callable[[Sequence[str]], list[Vector | None]]
HARMLESS = "The weather is mild today."


def embed_each(embed: Embed, texts: Sequence[str]) -> list[Vector | None]:
    """One entry per text; None where this very text has no vector.

    Raises EmbeddingFailed only when the model does not take any text now.
    """
    try:
        vectors = embed(texts)
    except EmbeddingFailed:
        if not _takes_a_harmless_text(embed):
            raise
        if len(texts) == 1:
            return [None]
        middle = len(texts) // 2
        return embed_each(embed, texts[:middle]) + embed_each(embed, texts[middle:])
    if all(vector is None for vector in vectors) and not _takes_a_harmless_text(embed):
        raise EmbeddingFailed("the model gives no usable vector for any text")
    return vectors


def _takes_a_harmless_text(embed: Embed) -> bool:
    try:
        return embed([HARMLESS])[0] is not None
    except EmbeddingFailed:
        return False
