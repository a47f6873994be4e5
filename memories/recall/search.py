"""Search inside one reach: the recall ranking over rows the caller picked, page by page.

Here a list is expected to end, so a row is found when it holds a word of the question or lies near it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from memories.domain.query_text import text_terms
from memories.domain.ranking import LEAST_FOUND, LEAST_RECALLED
from memories.recall import statement
from memories.recall.candidates import Weights, lexemes, question_parameters
from memories.store.scope_sql import Where
from memories.store.vectors import ModelVector, shape_of
from omnia.db import fetch_dicts, streamed_dicts

_DEEPEST, _AT_A_TIME = 10_000, 100


@dataclass(frozen=True, slots=True)
class Found:
    """One page of rows, best first, and how many there are in all (at most 20,000)."""

    rows: list[dict[str, Any]]
    total: int


def search(where: Where, *, query: str, vector: ModelVector | None, weights: Weights, limit: int, offset: int) -> Found:
    """The rows of `where` that answer `query`; none for a question without a word or a vector."""
    ranked = _ranked(where, query=query, vector=vector, weights=weights, least=LEAST_FOUND)
    if ranked is None:
        return Found([], 0)
    rows = fetch_dicts(ranked.sql, ranked.parameters | {"limit": limit, "offset": offset})
    if not rows and offset:
        return Found([], search(where, query=query, vector=vector, weights=weights, limit=1, offset=0).total)
    return Found(rows, rows[0]["total"] if rows else 0)


@contextmanager
def searched_on(
    where: Where, *, query: str, vector: ModelVector | None, weights: Weights, most: int
) -> Iterator[Iterator[dict[str, Any]]]:
    """The rows a recall would find in `where`, best first, for a reader who does not know how many are needed."""
    ranked = _ranked(where, query=query, vector=vector, weights=weights, least=LEAST_RECALLED)
    if ranked is None:
        yield iter(())
        return
    with streamed_dicts(ranked.sql, ranked.parameters | {"limit": most, "offset": 0}, at_a_time=_AT_A_TIME) as rows:
        yield rows


def _ranked(where: Where, *, query: str, vector: ModelVector | None, weights: Weights, least: float) -> Where | None:
    """The statement without its page; None where there is nothing to ask."""
    terms = text_terms(lexemes(query))
    if vector is None and not terms:
        return None
    parameters = where.parameters | question_parameters(vector, terms) | weights.parameters()
    parameters |= {"depth": _DEEPEST, "farthest": 1 - least}
    return Where(statement.over(where.sql, shape=shape_of(vector)), parameters)
