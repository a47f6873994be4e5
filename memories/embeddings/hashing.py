"""A model without weights: hashed words and letter groups. For tests and for the smallest installs.

It knows spelling, not meaning: texts that share words, or parts of words, come out close.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from memories.embeddings.base import Vector, usable

DIMENSIONS = 384
_WORD = re.compile(r"[^\W_]+")
_GROUP = 4
_GROUP_WEIGHT = 0.4
"""Whole words say more than the letters inside them."""


class HashingEmbedder:
    """Deterministic across processes and machines; needs no file and no network."""

    name = f"hashing-{DIMENSIONS}"
    dimensions = DIMENSIONS

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | None]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> Vector | None:
        sums = np.zeros(DIMENSIONS)
        for (feature, weight), count in Counter(_features(text)).items():
            place = zlib.crc32(feature.encode())
            sums[place % DIMENSIONS] += weight * np.sqrt(count) * (1 if place & 0x8000_0000 else -1)
        return usable(sums, DIMENSIONS)


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        yield word, 1.0
        padded = f"<{word}>"
        for start in range(len(padded) - _GROUP + 1):
            yield padded[start : start + _GROUP], _GROUP_WEIGHT
