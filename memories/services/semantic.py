"""Semantic retrieval: the search over every tier a scope joins, with a filter of the caller's own (design: deny_cel)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from memories.domain.deny import DenyRule, took_too_long
from memories.domain.query_text import require_query
from memories.recall.search import searched_on
from memories.services import accesses, vectors
from memories.services.browse import Page
from memories.services.weights import weights
from memories.store.rows import memory_object
from memories.store.scope_sql import visible
from omnia import metrics
from omnia.core.edition import Edition
from omnia.core.errors import BadInput, FieldProblem
from omnia.core.scope import Scope
from policies.domain.effective import EffectivePolicy

MOST_JUDGED = 10_000
"""Rows: what lies behind them is too far from the question to be worth the time."""
SECONDS_TO_JUDGE = 2.0
"""For all rows of a request. One row takes no longer than its few kilobytes do, but there may be thousands."""


@dataclass(frozen=True, slots=True)
class SemanticRequest:
    """One question; `deny_cel` empty withholds nothing."""

    scope: Scope
    query: str
    deny_cel: str = ""
    limit: int = 20


def retrieve_semantic(request: SemanticRequest, *, policy: EffectivePolicy, now: datetime) -> Page:
    """The best rows the expression lets through: as many as asked for while there are any.

    Raises BadInput `deny_cel_invalid`, or for a question that says nothing.
    """
    text = require_query(request.query, pointer="/query")
    if not text.strip():
        detail = "the question is expected"
        raise BadInput(detail, code="invalid", errors=[FieldProblem("/query", "required", detail)])
    rule = DenyRule.of(request.deny_cel) if request.deny_cel else None
    rows = _allowed(request, text=text, rule=rule, policy=policy, now=now)
    accesses.note(rows, now=now)
    memories = [memory_object(row) | {"score": row["score"]} for row in rows]
    return Page(memories, len(memories))


def _allowed(
    request: SemanticRequest, *, text: str, rule: DenyRule | None, policy: EffectivePolicy, now: datetime
) -> list[dict[str, Any]]:
    where = visible(request.scope, institutional=policy.edition is Edition.ENTERPRISE, now=now)
    vector, factors = vectors.for_query(text), weights(policy)
    most = MOST_JUDGED if rule else request.limit
    with searched_on(where, query=text, vector=vector, weights=factors, most=most) as rows:
        return list(islice(_let_through(rows, rule) if rule else rows, request.limit))


def _let_through(rows: Iterable[dict[str, Any]], rule: DenyRule) -> Iterator[dict[str, Any]]:
    """Reads on behind the rows that are denied."""
    judging = 0.0
    for row in rows:
        started = time.perf_counter()
        denied = rule.denies(row)
        judging += time.perf_counter() - started
        if judging > SECONDS_TO_JUDGE:
            raise took_too_long()
        if denied:
            metrics.DENIED.inc()
        else:
            yield row
