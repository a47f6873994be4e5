"""Recall of what was known at an earlier moment (design: as_of).

A row counts that was there then and was neither superseded nor invalidated yet. What a person forgot, what has
expired since, and what was deleted does not come back, nor do the sayings it had taken the place of: the history is
for asking what was believed, not for getting around a deletion.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any

from memories.domain.query_text import text_terms
from memories.recall import statement
from memories.recall.candidates import Weights, lexemes, question_parameters, recall_parameters
from memories.recall.request import RecallRequest
from memories.store.scope_sql import SHARED_TIERS, USER_TIERS
from memories.store.vectors import ModelVector, Shape, shape_of
from omnia.db import fetch_dicts, load_sql

_THERE = """m.said_at <= %(as_of)s
    AND (m.expires_at IS NULL OR m.expires_at > %(today)s)
    AND (m.retired_at IS NULL OR m.retired_as <> 'forgotten' AND m.retired_at > %(as_of)s)"""
_WORDINGS = """
SELECT DISTINCT ON (memory_id) memory_id, type, content, title, summary, confidence, said_at AS updated_at
FROM memories_wording WHERE memory_id = ANY(%(ids)s) AND replaced_at > %(as_of)s ORDER BY memory_id, replaced_at, id
"""


def find_as_of(
    request: RecallRequest, *, as_of: datetime, vector: ModelVector | None, weights: Weights, now: datetime
) -> list[dict[str, Any]]:
    """The best rows as they were, best first, in the shape `find` gives; `now` is the present."""
    terms = text_terms(lexemes(request.query)) if request.query else []
    parameters = recall_parameters(request, weights=weights, now=as_of) | {"as_of": as_of, "today": now}
    if vector is None and not terms:
        rows = fetch_dicts(_newest(), parameters)
    else:
        parameters |= question_parameters(vector, terms)
        rows = fetch_dicts(_whole_scope(shape_of(vector)), parameters)
    return _as_they_were(rows, as_of=as_of)


def _as_they_were(rows: list[dict[str, Any]], *, as_of: datetime) -> list[dict[str, Any]]:
    earlier = fetch_dicts(_WORDINGS, {"ids": [row["id"] for row in rows], "as_of": as_of}) if rows else []
    words = {each.pop("memory_id"): each for each in earlier}
    return [_reworded(row, words[row["id"]]) if row["id"] in words else row for row in rows]


def _reworded(row: dict[str, Any], wording: dict[str, Any]) -> dict[str, Any]:
    return row | wording | {"body_size_bytes": len(wording["content"].encode())}


@cache
def _whole_scope(shape: Shape) -> str:
    return statement.whole(_ROWS, passing=_passing(), shape=shape)


@cache
def _newest() -> str:
    return statement.latest(_ROWS, passing=_passing())


def _passing() -> str:
    return f"{_THERE} AND {statement.FILTERS}"


_ROWS = " UNION ALL ".join(
    load_sql("memories", "recall_as_of").format(predicate=tiers) for tiers in (*SHARED_TIERS, USER_TIERS)
)
