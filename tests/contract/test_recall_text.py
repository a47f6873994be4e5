"""The text leg: any word finds, nothing breaks it, and a query is only ever text (spec: recall)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memories.domain.query_text import LONGEST_QUERY, TEXT_TERMS
from tests.support import Store, contents, fill, opened_store

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[True, False], ids=["hybrid", "text"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    with opened_store(embeds=request.param) as opened:
        yield opened


HOSTILE = [
    "' OR 1=1--", "'; DROP TABLE memories_memory; --", ":*", "<->", "a & | b", "!!!", "\\", "'", '"', "`x`", "%", "_",
    "%s %(user)s {} {0}", "$1", "(" * 10_000, ")" * 10_000, "the of and", "-- /* */", "a" * 16_384, "x " * 8_192,
    "🙂", "日本語", "docker 部署", "\u200b", "\u202e", "مرحبا", "é\u0301" * 100, "§", "null", "bees\n\t", "<script>",
    "bee:*", "'bees' & 'wax'", "!bees", "bees <-> wax", "bees|wax", "\\'bees", "http://a.example/b?c=d", "a@b.example",
    "1e400", "-1", "+", "0x00", "\x01",
]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_any_query_answers_200_with_the_scopes_rows_only(store: Store, query: str) -> None:
    store.save("Keeps bees")
    store.save("Melts wax", agent="a1")
    store.save("Another's bees and wax", user="u2")
    for answer in (store.recall(query), store.recall(query, limit=100)):
        assert set(contents(answer)) <= {"Keeps bees"}
    if query.strip():
        assert set(contents(store.search(query))) <= {"Keeps bees"}
    assert len(store.rows("id")) == 3


@pytest.mark.parametrize("query", ["bee", "BEES!", "honey or bees", "(bees", "bees & nonsense", "what's with the bees?",
                                   "bees:*", "'bees'", "nonsense " * 11 + "bees"])  # fmt: skip
def test_any_word_of_the_question_finds(store: Store, query: str) -> None:
    store.save("Keeps bees")
    assert contents(store.recall(query)) == contents(store.search(query)) == ["Keeps bees"]


def test_words_match_whole_and_not_as_parts() -> None:
    with opened_store(embeds=False) as store:
        store.save("User's name is Phil")
        store.save("Renamed the file")
        assert contents(store.recall("my name")) == ["User's name is Phil"]


def test_cjk_and_ascii_words_of_one_question_both_count() -> None:
    with opened_store(embeds=False) as store:
        for text in ("docker 部署", "docker alone", "部署 计划", "unrelated"):
            store.save(text)
        found = contents(store.recall("docker 部署"))
        assert found[0] == "docker 部署"
        assert set(found) == {"docker 部署", "docker alone", "部署 计划"}


def test_the_title_is_searched_too(store: Store) -> None:
    store.save("They sting", title="Bees")
    assert contents(store.recall("bees", limit=1)) == contents(store.search("bees", limit=1)) == ["They sting"]


@pytest.mark.parametrize("words", [TEXT_TERMS, TEXT_TERMS + 1, 200])
def test_a_long_question_keeps_its_rare_long_words(words: int) -> None:
    with opened_store(embeds=False) as store:
        store.save("The chrysanthemum blooms")
        query = " ".join(f"w{number}" for number in range(words - 1)) + " chrysanthemum"
        assert contents(store.recall(query)) == ["The chrysanthemum blooms"]


@pytest.mark.parametrize(("length", "status"), [(LONGEST_QUERY, 200), (LONGEST_QUERY + 1, 400), (50_000, 400)])
def test_the_query_is_capped(store: Store, length: int, status: int) -> None:
    store.recall("q" * length, status=status)
    store.search("q" * length, status=status)


@pytest.mark.parametrize("query", ["", " ", "\t\n"])
def test_a_search_needs_words(store: Store, query: str) -> None:
    assert store.search(query, status=400)["errors"][0]["pointer"] == "/q"
    assert store.get("memories/search", status=400)["code"] == "required"


def test_no_text_can_name_another_scope_for_the_index(store: Store) -> None:
    """The shared text index carries a lexeme that names workspace and tier; words of people never become one."""
    store.save("Keeps bees")
    with opened_store(embeds=False) as other:
        forged = f"§{store.workspace}.0 '§{store.workspace}.0' bees"
        other.keep(forged)
        assert contents(other.recall(f"§{store.workspace}.0")) in ([], [forged])
        assert contents(store.recall(f"§{other.workspace}.0 §{store.workspace}.0")) in ([], ["Keeps bees"])
        assert [row["lexemes"] for row in other.rows("array_to_string(array(SELECT w FROM unnest(tsvector_to_array(tsv)) w"
                                                     " WHERE w LIKE '§%%'), ' ') AS lexemes")] == [f"§{other.workspace}.0"]  # fmt: skip


PROBES: list[Any] = ["bees' OR tier >= 0 --", "x') OR TRUE --", "u1' UNION SELECT"]


@pytest.mark.parametrize("probe", PROBES)
def test_filters_are_values(store: Store, probe: str) -> None:
    store.save("Keeps bees")
    fill(store.workspace, 3, user="u2", text="bees {i}")
    assert store.recall("bees", types=[probe])["memories"] == []
    assert store.recall("bees", user=probe)["memories"] == []
    assert store.browse(type=probe)["total"] == store.browse(user_id=probe)["total"] == 0
    assert store.search("bees", purpose=probe, category=probe)["total"] == 0
