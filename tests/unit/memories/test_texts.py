"""Rules over text: keys, bodies, previews, questions."""

from __future__ import annotations

import unicodedata
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.domain.about import About
from memories.domain.content import require_body, says_something
from memories.domain.preview import LONGEST_PREVIEW, content_preview, is_long
from memories.domain.query_text import LONGEST_QUERY, TEXT_TERMS, quoted, require_query, text_terms
from memories.domain.reach import Reach
from omnia.core.errors import BadInput
from omnia.core.scope import Scope

readable = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=60).filter(str.strip)


@given(kind=readable, key=readable)
def test_a_folded_key_folds_to_itself(kind: str, key: str) -> None:
    about = About.of(kind, key)
    assert About.of(about.kind, about.key) == about
    assert About.of(f" {unicodedata.normalize('NFD', kind)} ", key) == about


@given(text=st.text(max_size=200), limit=st.integers(min_value=0, max_value=300))
def test_a_body_passes_exactly_up_to_its_limit_in_bytes(text: str, limit: int) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if not says_something(text) or size > limit:
        with pytest.raises(BadInput) as refused:
            require_body(text, max_bytes=limit)
        assert refused.value.code == ("body_too_large" if says_something(text) else "content_empty")
        assert text not in refused.value.detail or len(text) < 9
    else:
        require_body(text, max_bytes=limit)


@given(text=st.text(max_size=2000))
def test_a_preview_is_short_and_begins_as_the_body_does(text: str) -> None:
    preview = content_preview(text)
    assert len(preview) <= LONGEST_PREVIEW
    assert " ".join(text.split()).startswith(preview.removesuffix("…"))


def test_a_preview_ends_with_a_word() -> None:
    assert content_preview("word " * 100) == "word " * 46 + "word…"
    assert content_preview("w" * 500) == "w" * 239 + "…"
    assert content_preview("short") == "short"


@pytest.mark.parametrize(
    ("size", "threshold", "long"), [(0, 0, False), (1, 0, True), (8192, 8192, False), (8193, 8192, True)]
)
def test_a_body_above_the_threshold_is_long(size: int, threshold: int, long: bool) -> None:
    assert is_long(size, threshold_bytes=threshold) is long


@pytest.mark.parametrize(("length", "fits"), [(LONGEST_QUERY, True), (LONGEST_QUERY + 1, False)])
def test_a_query_has_a_longest_length(length: int, fits: bool) -> None:
    if fits:
        assert require_query("q" * length) == "q" * length
        return
    with pytest.raises(BadInput) as refused:
        require_query("q" * length, pointer="/q")
    assert refused.value.errors[0].pointer == "/q"


def test_the_longest_words_of_a_long_question_are_kept() -> None:
    words = [f"w{number}" for number in range(50)] + ["chrysanthemum"]
    terms = text_terms(words)
    assert len(terms) == TEXT_TERMS
    assert "'chrysanthemum'" in terms
    assert text_terms(reversed(words)) == terms


@pytest.mark.parametrize(("lexeme", "term"), [("bee", "'bee'"), ("it's", "'it''s'"), ("a\\b", "'a\\\\b'")])
def test_a_lexeme_is_quoted(lexeme: str, term: str) -> None:
    assert quoted(lexeme) == term


@pytest.mark.parametrize("scope", [Scope(UUID(int=1)), Scope(UUID(int=1), agent="a1"), Scope(UUID(int=1), "u1", "a1")])
def test_any_agent_needs_a_user_and_no_agent(scope: Scope) -> None:
    with pytest.raises(BadInput):
        Reach(scope, any_agent=True)


def test_a_scope_is_never_guessed() -> None:
    with pytest.raises(TypeError):
        Scope()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Reach()  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="not a scope"):
        Scope(UUID(int=1), "")
