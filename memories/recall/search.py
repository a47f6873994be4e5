"""Search inside one reach: the recall ranking over rows the caller picked, page by page.

Here a list is expected to end, so a row is found when it holds a word of the question or lies near it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memories.domain.query_text import text_terms
from memories.recall import statement
from memories.recall.candidates import Weights, dimensions_of, lexemes, question_parameters
from memories.store.scope_sql import Where
from memories.store.vectors import ModelVector
from omnia.db import fetch_dicts

LEAST_SIMILARITY = 0.3
"""A row without a word of the question must be this near to it; models whose unrelated texts lie nearer find more."""
_DEEPEST = 10_000


@dataclass(frozen=True, slots=True)
class Found:
    """One page of rows, best first, and how many there are in all (at most 20,000)."""

    rows: list[dict[str, Any]]
    total: int


def search(where: Where, *, query: str, vector: ModelVector | None, weights: Weights, limit: int, offset: int) -> Found:
    """The rows of `where` that answer `query`; none for a question without a word or a vector."""
    terms = text_terms(lexemes(query))
    if vector is None and not terms:
        return Found([], 0)
    parameters = where.parameters | question_parameters(vector, terms) | weights.parameters()
    parameters |= {"depth": _DEEPEST, "farthest": 1 - LEAST_SIMILARITY, "limit": limit, "offset": offset}
    sql = statement.over(where.sql, dimensions=dimensions_of(vector))
    rows = fetch_dicts(sql, parameters)
    if not rows and offset:
        return Found([], search(where, query=query, vector=vector, weights=weights, limit=1, offset=0).total)
    return Found(rows, rows[0]["total"] if rows else 0)
