"""Chunks: overlapping windows of words, the items a document is found by (spec: ingestion.chunk).

Words are read one after the other and at most one window is held, so a long document costs no more
memory than a short one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = re.compile(r"\S+")
"""What lies between Unicode white space."""


def chunks(text: str, *, size: int, overlap: int) -> Iterator[str]:
    """Windows of `size` words, each `size - overlap` words after the one before, joined by single spaces.

    The last is the one that reaches the last word. Raises ValueError unless 0 <= overlap < size.
    """
    step = _step(size, overlap)
    window: list[str] = []
    for word in _WORD.finditer(text):
        if len(window) == size:
            yield " ".join(window)
            del window[:step]
        window.append(word[0])
    if window:
        yield " ".join(window)


def count_chunks(text: str, *, size: int, overlap: int) -> int:
    """How many chunks `text` makes, without making them."""
    step = _step(size, overlap)
    words = sum(1 for _ in _WORD.finditer(text))
    return 1 + max(0, -((size - words) // step)) if words else 0


def _step(size: int, overlap: int) -> int:
    if not 0 <= overlap < size:
        raise ValueError("chunks overlap by less than their size")
    return size - overlap
