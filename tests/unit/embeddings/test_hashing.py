"""The model without weights."""

from __future__ import annotations

import numpy as np
import pytest

from memories.embeddings.base import Vector
from memories.embeddings.hashing import HashingEmbedder

TEA = {165: 0.3482, 209: -0.3482, 306: 0.8704}
"""The word and its two groups of letters."""


def vector(text: str) -> Vector:
    made = HashingEmbedder().embed_query(text)
    assert made is not None
    return made


def test_it_is_the_same_everywhere() -> None:
    """Rows outlive the process that embedded them, so these numbers never change."""
    made = vector("tea")
    assert {int(place): round(float(made[place]), 4) for place in np.flatnonzero(made)} == TEA


def test_shared_words_are_close() -> None:
    tea = vector("Alice prefers green tea in the morning")
    assert tea @ vector("alice PREFERS green tea") > 0.7
    assert tea @ vector("The invoice is overdue") < 0.3


def test_word_forms_are_closer_than_other_words() -> None:
    assert vector("preferences") @ vector("preference") > 0.4 > vector("preferences") @ vector("invoice")


@pytest.mark.parametrize("text", ["", "  \n", "…!?", "\u200b"])
def test_a_text_without_words_has_no_vector(text: str) -> None:
    assert HashingEmbedder().embed_query(text) is None


def test_passages_and_queries_are_made_alike() -> None:
    (passage,) = HashingEmbedder().embed_passages(["green tea"])
    assert passage is not None
    assert np.array_equal(passage, vector("green tea"))
