"""The gate every vector passes, and its way to PostgreSQL."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.embeddings.base import EmbeddingFailed, Prefixed, usable
from memories.embeddings.halfvec import to_halfvec
from memories.embeddings.hashing import HashingEmbedder

NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_a_vector_is_of_unit_length_or_none(values: list[float]) -> None:
    vector = usable(values, len(values))
    if all(math.isfinite(x) for x in values) and any(values):
        assert vector is not None
        assert vector.dtype == np.float32
        assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-6)
    else:
        assert vector is None


@given(st.lists(st.floats(min_value=-1, max_value=1), min_size=1, max_size=20))
def test_a_vector_points_where_its_numbers_point(values: list[float]) -> None:
    vector = usable(values, len(values))
    if vector is not None:
        assert np.argmax(np.abs(vector)) in np.flatnonzero(np.abs(vector) == np.abs(vector[np.argmax(np.abs(values))]))
        assert all(x * y >= 0 for x, y in zip(values, vector, strict=True))


@pytest.mark.parametrize("length", [0, 383, 385])
def test_another_length_is_a_failure(length: int) -> None:
    with pytest.raises(EmbeddingFailed):
        usable([1.0] * length, 384)


def test_a_matrix_is_a_failure() -> None:
    with pytest.raises(EmbeddingFailed):
        usable([[1.0, 1.0], [1.0, 1.0]], 4)


def test_nobody_alters_a_vector_that_others_share() -> None:
    vector = usable([3.0, 4.0], 2)
    assert vector is not None
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1


def test_the_halfvec_holds_the_numbers_to_a_halfs_precision() -> None:
    vector = usable(np.linspace(-1, 1, 384), 384)
    assert vector is not None
    sent = to_halfvec(vector)
    assert struct.unpack(">HH", sent.to_binary()[:4]) == (384, 0)
    assert np.allclose(sent.to_numpy().astype(np.float32), vector, rtol=2**-10)


class Echo(HashingEmbedder):
    """Keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_query(self, text):
        self.asked.append(text)
        return super().embed_query(text)


def test_prefixes_stand_before_the_text() -> None:
    echo = Echo()
    prefixed = Prefixed(echo, query="query: ", passage="passage: ")
    prefixed.embed_query("tea")
    prefixed.embed_passages(["milk"])
    assert echo.asked == ["query: tea", "passage: milk"]


def test_prefixes_are_part_of_the_name() -> None:
    """Another prefix makes other vectors; they must not be compared with these."""
    pairs = [("", ""), ("a", ""), ("", "a"), ("ab", "c"), ("a", "bc")]
    names = {Prefixed(HashingEmbedder(), query=query, passage=passage).name for query, passage in pairs}
    assert len(names) == len(pairs)
    assert Prefixed(HashingEmbedder(), query="", passage="").dimensions == 384
