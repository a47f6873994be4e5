"""One text that the model cannot take blocks no other."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.embeddings.base import EmbeddingFailed, Vector
from memories.embeddings.hashing import HashingEmbedder
from memories.embeddings.isolation import Embed, embed_each


def failing_on(poison: set[str], *, permanent: bool) -> tuple[list[int], Embed]:
    """A model that fails a whole batch when any of its texts is poison; and the sizes it was asked."""
    sizes: list[int] = []

    def embed(texts: Sequence[str]) -> list[Vector | None]:
        sizes.append(len(texts))
        if poison & set(texts):
            raise EmbeddingFailed("poison", permanent=permanent)
        return HashingEmbedder().embed_passages(texts)

    return sizes, embed


@given(st.sets(st.integers(0, 15)), st.integers(1, 16), st.booleans())
def test_exactly_the_poisoned_texts_have_no_vector(bad: set[int], count: int, permanent: bool) -> None:
    texts = [f"text {n}" for n in range(count)]
    _, embed = failing_on({f"text {n}" for n in bad}, permanent=permanent)
    made = embed_each(embed, texts)
    assert {n for n, vector in enumerate(made) if vector is None} == {n for n in bad if n < count}
    good = HashingEmbedder().embed_passages(texts)
    assert all(vector is None or (vector == expected).all() for vector, expected in zip(made, good, strict=True))


def test_a_good_batch_is_asked_once() -> None:
    sizes, embed = failing_on(set(), permanent=True)
    embed_each(embed, ["a", "b", "c"])
    assert sizes == [3]


def test_a_zero_vector_among_others_needs_no_second_question() -> None:
    sizes, embed = failing_on(set(), permanent=True)
    assert [vector is None for vector in embed_each(embed, ["tea", "…"])] == [False, True]
    assert sizes == [2]


def test_one_poisoned_text_in_sixteen_costs_few_calls() -> None:
    sizes, embed = failing_on({"text 5"}, permanent=True)
    embed_each(embed, [f"text {n}" for n in range(16)])
    assert len(sizes) <= 15


def test_a_model_that_takes_nothing_is_at_fault_itself() -> None:
    def embed(texts: Sequence[str]) -> list[Vector | None]:
        raise EmbeddingFailed("down")

    with pytest.raises(EmbeddingFailed, match="down"):
        embed_each(embed, ["a", "b"])


def test_a_model_that_gives_only_zeros_is_at_fault_itself() -> None:
    with pytest.raises(EmbeddingFailed, match="no usable vector"):
        embed_each(lambda texts: [None] * len(texts), ["a", "b"])


def test_a_text_whose_vector_is_zero_is_at_fault_itself() -> None:
    assert embed_each(HashingEmbedder().embed_passages, ["…"]) == [None]
