"""Which words of a question are worth an index search, by how common they are in the whole store.

The database keeps the frequencies of the commonest lexemes as planner statistics. A word that stands in
a large part of all rows costs most of a text search and says little, so a large scope is searched for the
rarer words only; every word still counts in the weights. Statistics are a ranking hint: without them all
words are searched.
"""

from __future__ import annotations

from threading import Lock

from cachetools import TTLCache, cached

from memories.domain.query_text import quoted
from omnia.db import fetch_dicts

SEARCHED_WORDS = 5
COMMON = 0.02

_STATISTICS = """
SELECT coalesce(most_common_elems::text::text[], '{}') AS words, coalesce(most_common_elem_freqs, '{}') AS frequencies
FROM pg_stats WHERE schemaname = current_schema() AND tablename = 'memories_memory' AND attname = 'tsv'
"""


@cached(TTLCache(maxsize=1, ttl=300), lock=Lock())
def frequencies() -> dict[str, float]:
    """The share of all rows that hold each of the commonest words, as quoted `tsquery` terms."""
    rows = fetch_dicts(_STATISTICS, {})
    if not rows:
        return {}
    return {quoted(word): share for word, share in zip(rows[0]["words"], rows[0]["frequencies"], strict=False)}


def rarest(terms: list[str]) -> list[str]:
    """The terms to search for: the rare ones, at most five; the rarest one when all are common."""
    known = frequencies()
    ordered = sorted(terms, key=lambda term: known.get(term, 0.0))
    rare = [term for term in ordered if known.get(term, 0.0) <= COMMON]
    return (rare or ordered[:1])[:SEARCHED_WORDS]
