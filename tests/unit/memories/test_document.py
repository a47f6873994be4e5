"""The rules that make memories of a document (spec: ingestion; behaviour cases 171, 173; security case A 13)."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.domain.chunking import chunks, count_chunks
from memories.domain.document import (
    CHUNK,
    DOCUMENT,
    SECTION,
    Placed,
    SourceDocument,
    document_nodes,
    links,
    require_document,
)
from memories.domain.sections import LONGEST_HEADING, Section, sections
from memories.domain.summary import MOST_BYTES, extractive_summary
from omnia.core.errors import BadInput
from policies.domain.effective import IngestionRules

WORDS = " ".join(f"w{i}" for i in range(250))
TEXTS = st.text(alphabet=st.sampled_from("ab.?!。 \t\n\u00a0\u3000é𝄞#-=`"), max_size=400)
GEOMETRY = st.integers(1, 30).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def rules(strategy: str = "chunk", *, size: int = 200, overlap: int = 40) -> IngestionRules:
    return IngestionRules(strategy=strategy, summarizer="extractive", chunk_size=size, chunk_overlap=overlap)


class TestChunks:
    def test_250_words_in_windows_of_100_with_20_shared(self) -> None:
        found = list(chunks(WORDS, size=100, overlap=20))
        assert [chunk.split()[0] for chunk in found] == ["w0", "w80", "w160"]
        assert [len(chunk.split()) for chunk in found] == [100, 100, 90]
        assert found[-1].endswith(" w249")

    @pytest.mark.parametrize(
        ("words", "expected"), [(0, 0), (1, 1), (99, 1), (100, 1), (101, 2), (180, 2), (181, 3), (260, 3), (261, 4)]
    )
    def test_it_stops_with_the_window_that_reaches_the_last_word(self, words: int, expected: int) -> None:
        text = " ".join(["w"] * words)
        assert len(list(chunks(text, size=100, overlap=20))) == count_chunks(text, size=100, overlap=20) == expected

    @pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\u3000", "\u2028", "\x85", "\r\n\t "])
    def test_words_lie_between_unicode_white_space(self, space: str) -> None:
        assert list(chunks(f"{space}one{space}two{space}", size=5, overlap=0)) == ["one two"]

    @pytest.mark.parametrize(("size", "overlap"), [(0, 0), (5, 5), (5, 6), (5, -1)])
    def test_a_window_that_would_not_move_on_is_refused(self, size: int, overlap: int) -> None:
        with pytest.raises(ValueError, match="overlap"):
            list(chunks("a b", size=size, overlap=overlap))

    @given(TEXTS, GEOMETRY)
    def test_the_windows_are_the_words_and_nothing_else(self, text: str, geometry: tuple[int, int]) -> None:
        size, overlap = geometry
        words, step = text.split(), size - overlap
        found = [chunk.split(" ") for chunk in chunks(text, size=size, overlap=overlap)]
        assert [word for window in found[:1] for word in window] + [
            word for window in found[1:] for word in window[overlap:]
        ] == words
        assert all(window == words[number * step : number * step + size] for number, window in enumerate(found))
        assert len(found) == count_chunks(text, size=size, overlap=overlap)


class TestSummary:
    @pytest.mark.parametrize(
        ("text", "summary"),
        [
            ("One. Two! Three? Four.", "One. Two! Three?"),
            ("One. Two.", "One. Two."),
            ("No end at all", "No end at all"),
            ("", ""),
            (" \n\u3000", ""),
            ("  Led by space. Two. Three. Four.", "Led by space. Two. Three."),
            ('He said "no." Version 3.5 is out. Third. Fourth.', 'He said "no." Version 3.5 is out. Third.'),
            ("一つ。二つ！三つ？四つ。", "一つ。二つ！三つ？"),
            ("Wait... what?! Yes. No.", "Wait... what?! Yes."),
            ("word " * 200, ("word " * 120).rstrip()),
            ("x" * 400 + ". " + "word " * 100, "x" * 400 + "."),
            ("Hi. " + "word " * 200, ("Hi. " + "word " * 119).rstrip()),
            ("é" * 700, "é" * 300),
        ],
    )
    def test_the_first_sentences(self, text: str, summary: str) -> None:
        assert extractive_summary(text) == summary

    @given(TEXTS)
    def test_it_is_a_piece_of_the_text_within_its_bounds(self, text: str) -> None:
        summary = extractive_summary(text)
        assert summary in text
        assert summary == summary.strip()
        assert bool(summary) == bool(text.strip())
        assert len(summary.encode()) <= MOST_BYTES
        assert extractive_summary(summary) == summary

    @given(st.lists(st.text(alphabet="abcé", min_size=1, max_size=80), min_size=20, max_size=60))
    def test_no_word_is_cut(self, words: list[str]) -> None:
        assert extractive_summary(" ".join(words)).split() == words[: len(extractive_summary(" ".join(words)).split())]


class TestSections:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("plain", [((), "plain")]),
            ("", [((), "")]),
            ("# A\na\n# B\nb", [(("A",), "a\n"), (("B",), "b")]),
            ("intro\n# A\na", [((), "intro\n"), (("A",), "a")]),
            ("\n\n# A\na", [(("A",), "a")]),
            (
                "# A\n## B\nb\n### C\n## D\nd",
                [(("A",), ""), (("A", "B"), "b\n"), (("A", "B", "C"), ""), (("A", "D"), "d")],
            ),
            ("## A ##\n# C#\n", [(("A",), ""), (("C#",), "")]),
            ("A\n===\na\n\nB\n---\nb", [(("A",), "a\n\n"), (("A", "B"), "b")]),
            ("# A\nTitle\n-----\nb", [(("A",), ""), (("A", "Title"), "b")]),
            ("#hash\n####### seven\n#\n    # code\n", [((), "#hash\n####### seven\n#\n    # code\n")]),
            ("two\nlines\n---\n- item\n---\n", [((), "two\nlines\n---\n- item\n---\n")]),
            (
                "```sh\n# no\n```\n# A\n~~~~\n# no\n~~~\n# no\n~~~~\n",
                [((), "```sh\n# no\n```\n"), (("A",), "~~~~\n# no\n~~~\n# no\n~~~~\n")],
            ),
            ("---\ntitle: x\n# comment\n---\n# A\r\na", [((), "---\ntitle: x\n# comment\n---\n"), (("A",), "a")]),
            ("# " + "x" * LONGEST_HEADING, [((), "# " + "x" * LONGEST_HEADING)]),
        ],
    )
    def test_a_section_for_each_heading(self, text: str, found: list[tuple[tuple[str, ...], str]]) -> None:
        assert sections(text) == [Section(path, body) for path, body in found]

    @given(TEXTS)
    def test_no_word_is_lost(self, text: str) -> None:
        found = sections(text)
        assert found
        kept = "".join(piece for part in found for piece in (*part.path[-1:], part.text))
        markup = set("#=- \n\t\u00a0\u3000")
        assert Counter(sign for sign in kept if sign not in markup) == Counter(
            sign for sign in text if sign not in markup
        )
        assert all(part.text in text for part in found)


class TestDocument:
    def test_the_key_is_the_id_else_the_exact_url_else_the_text(self) -> None:
        assert SourceDocument("t", url="https://A/x", document_id="d1").key == "d1"
        assert SourceDocument("t", url="https://A/x").key == "https://A/x"
        assert SourceDocument("t", title="a").key == SourceDocument("t", title="a", site="s").key
        assert (
            len({SourceDocument("t", title="a").key, SourceDocument("t").key, SourceDocument("u", title="a").key}) == 3
        )

    def test_the_nodes_of_a_document_with_headings(self) -> None:
        source = SourceDocument("Before.\n# A\none two three\n## B\nfour", title="Guide")
        nodes = [
            (node.type, node.title, node.content, node.part_of)
            for node in document_nodes(source, rules=rules(size=2, overlap=1))
        ]
        assert nodes == [
            ("document", "Guide", "Guide", None),
            ("chunk", "Guide", "Before.", 0),
            ("section", "Guide / A", "A", 0),
            ("chunk", "Guide / A", "one two", 2),
            ("chunk", "Guide / A", "two three", 2),
            ("section", "Guide / A / B", "B", 0),
            ("chunk", "Guide / A / B", "four", 5),
        ]

    @pytest.mark.parametrize("strategy", ["summary", "summaryThenChunk"])
    def test_a_summary_is_one_section_of_the_texts_own_words(self, strategy: str) -> None:
        source = SourceDocument("# A\nOne two. Three. Four.\n# B\nfive", title="Guide")
        _, section, *items = document_nodes(source, rules=rules(strategy, size=3, overlap=0))
        expected = ["# A\nOne two. Three. Four."] if strategy == "summary" else ["# A One", "two. Three. Four."]
        assert (section.type, section.content, section.part_of) == (SECTION, "Guide", 0)
        assert [item.content for item in items] == expected

    @given(TEXTS.filter(str.strip), st.sampled_from(["chunk", "summary", "summaryThenChunk"]), GEOMETRY)
    def test_every_node_hangs_below_one_before_it(self, text: str, strategy: str, geometry: tuple[int, int]) -> None:
        used = rules(strategy, size=geometry[0], overlap=geometry[1])
        nodes = list(document_nodes(SourceDocument(text), rules=used))
        assert nodes[0].type == DOCUMENT
        assert all(node.content for node in nodes)
        placed = [Placed(uuid4(), node.type, node.part_of) for node in nodes]
        joined = list(links(placed))
        assert len(set(joined)) == len(joined)
        assert [source for source, _, relation in joined if relation == "part_of"] == [each.id for each in placed[1:]]
        types = {each.id: each.type for each in placed}
        assert all(types[target] in (DOCUMENT, SECTION) for _, target, relation in joined if relation == "part_of")
        for kind in (SECTION, CHUNK):
            order = [each.id for each in placed if each.type == kind]
            steps = [(one, other) for one, other, relation in joined if relation == "next" and types[one] == kind]
            assert steps == list(pairwise(order))

    @pytest.mark.parametrize("text", ["", " \n", "\u200b\ufeff", "…"])
    def test_a_text_that_says_nothing_is_refused(self, text: str) -> None:
        with pytest.raises(BadInput) as refused:
            require_document(SourceDocument(text, title="Title"), rules=rules(), pointer="/documents/3")
        assert (refused.value.code, refused.value.errors[0].pointer) == ("content_empty", "/documents/3/text")

    def test_a_document_of_too_many_parts_is_refused(self) -> None:
        text = "w " * 100_001
        with pytest.raises(BadInput, match="larger chunks") as refused:
            require_document(SourceDocument(text), rules=rules(size=1, overlap=0))
        assert refused.value.code == "document_too_long"
        require_document(SourceDocument(text), rules=rules())
