"""The model in our own process: what it knows, and that it never runs on altered files."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from memories.embeddings.base import EmbeddingFailed, Vector
from memories.embeddings.local import VOCABULARY, LocalEmbedder


@pytest.fixture(scope="module")
def model() -> LocalEmbedder:
    return LocalEmbedder()


def vector(model: LocalEmbedder, text: str) -> Vector:
    made = model.embed_query(text)
    assert made is not None
    return made


PARAPHRASES = [
    ("A man is eating food.", "Someone eats a meal.", "The stock market fell."),
    ("Alice is allergic to peanuts", "Alice cannot eat peanuts", "Alice moved to Berlin last year"),
    ("How do I reset my password?", "I forgot my login credentials", "What is the weather tomorrow?"),
    ("The deployment runs every Friday", "We ship to production on Fridays", "The cat sleeps on the sofa"),
]


@pytest.mark.parametrize(("text", "same", "other"), PARAPHRASES)
def test_paraphrases_are_nearer_than_other_subjects(model: LocalEmbedder, text: str, same: str, other: str) -> None:
    assert vector(model, text) @ vector(model, same) > vector(model, text) @ vector(model, other) + 0.3


def test_known_cosines_stay_what_they_are(model: LocalEmbedder) -> None:
    """The thresholds of dedup were chosen on this model's numbers."""
    meal, food = vector(model, "A man is eating food."), vector(model, "Someone eats a meal.")
    assert meal @ food == pytest.approx(0.759, abs=0.005)
    near = vector(model, "deadline is October 15th") @ vector(model, "deadline is October 16th")
    assert near == pytest.approx(0.991, abs=0.005)


def test_a_text_has_one_vector_whatever_it_travels_with(model: LocalEmbedder) -> None:
    texts = ["tea", "a much longer text about the tea that Alice drinks " * 8, "", "  \t ", "東京に住んでいます", "tea"]
    for text, made in zip(texts, model.embed_passages(texts), strict=True):
        alone = model.embed_query(text)
        assert (made is None) == (alone is None)
        assert made is None or alone is None or np.array_equal(made, alone)


@pytest.mark.parametrize("text", ["", "  \n\t", "\u200b", "\x01\ufffd"])
def test_a_text_of_nothing_has_no_vector(model: LocalEmbedder, text: str) -> None:
    assert model.embed_query(text) is None


@pytest.mark.parametrize("text", ["word " * 2000, "x" * 8192, "🙂" * 4000, "a" * 1_000_000])
def test_any_text_fits_the_window(model: LocalEmbedder, text: str) -> None:
    assert vector(model, text).shape == (384,)


def test_what_lies_behind_the_window_does_not_count(model: LocalEmbedder) -> None:
    assert np.array_equal(vector(model, "word " * 254 + "tea"), vector(model, "word " * 254 + "coffee"))
    assert not np.array_equal(vector(model, "word " * 253 + "tea"), vector(model, "word " * 253 + "coffee"))


def test_threads_get_their_own_answers(model: LocalEmbedder) -> None:
    texts = [f"memory number {n} is about subject {n * 7}" for n in range(24)]
    expected = model.embed_passages(texts)
    made: list[Vector | None] = [None] * len(texts)

    def embed(start: int) -> None:
        for place in range(start, len(texts), 4):
            made[place] = model.embed_query(texts[place])

    threads = [threading.Thread(target=embed, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(
        one is not None and other is not None and np.array_equal(one, other)
        for one, other in zip(made, expected, strict=True)
    )


@pytest.mark.parametrize("file", ["weights", "vocabulary"])
def test_an_altered_file_is_refused_with_the_fix(file: str, tmp_path: Path) -> None:
    altered = tmp_path / "altered"
    altered.write_bytes(VOCABULARY.read_bytes() + b"one more\n")
    with pytest.raises(EmbeddingFailed, match=r"checksum differs.*(pip install|restore)"):
        LocalEmbedder(**{file: altered})


@pytest.mark.parametrize("file", ["weights", "vocabulary"])
def test_a_missing_file_is_named_with_the_fix(file: str, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingFailed, match=r"gone cannot be read.*(pip install|restore)"):
        LocalEmbedder(**{file: tmp_path / "gone"})


def test_a_missing_package_is_named_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memories.embeddings.local.find_spec", lambda name: None)
    with pytest.raises(EmbeddingFailed, match="pip install"):
        LocalEmbedder()
