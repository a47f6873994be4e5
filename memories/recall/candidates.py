"""The recall query: one statement from question to ranked rows.

A shared scope of at most `EXACT_ROWS` rows is read whole, because an exact scan of it is as cheap as its
index and finds everything; above that the indexes answer. An index gives up on a filter that leaves few
rows, so that an answer shorter than asked for is looked up in the whole scope: it may be all there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from memories.domain.query_text import TEXT_TERMS, text_terms
from memories.domain.ranking import LEAST_RECALLED, leg_depth
from memories.recall import statement
from memories.recall.request import RecallRequest
from memories.recall.shared_rows import shared_rows
from memories.recall.term_frequency import rarest
from memories.store.vectors import ModelVector, shape_of
from omnia.core.scope import Scope, Tier
from omnia.db import fetch_dicts

EXACT_ROWS = 3_000


@dataclass(frozen=True, slots=True)
class Weights:
    """The factors of the score that the policy and the installation set."""

    k: int
    recency_floor: float
    tier_weight: dict[Tier, float]
    half_life: dict[Tier, timedelta | None]
    institutional: bool = True

    def parameters(self) -> dict[str, Any]:
        named = {"institutional": Tier.INSTITUTIONAL, "agent": Tier.AGENT, "user": Tier.USER}
        return (
            {"k": self.k, "floor": self.recency_floor}
            | {f"t_{name}": self.tier_weight[tier] for name, tier in named.items()}
            | {f"h_{name}": _seconds(self.half_life[tier]) for name, tier in named.items()}
        )


def find(
    request: RecallRequest, *, vector: ModelVector | None, weights: Weights, now: datetime
) -> list[dict[str, Any]]:
    """The best rows, best first, each with its memory columns, score and factors."""
    terms = text_terms(lexemes(request.query)) if request.query else []
    parameters = recall_parameters(request, weights=weights, now=now)
    if vector is None and not terms:
        return fetch_dicts(statement.newest(), parameters)
    parameters |= question_parameters(vector, terms)
    shape = shape_of(vector)
    shared = shared_rows(request.scope, institutional=weights.institutional)
    if shared <= EXACT_ROWS:
        return fetch_dicts(statement.whole_scope(shape), parameters)
    parameters |= {"n_shared": shared} | _scope_queries(request.scope, terms)
    rows = fetch_dicts(statement.indexed(shape), parameters)
    if len(rows) >= request.limit:
        return rows
    return fetch_dicts(statement.whole_scope(shape), parameters)


_WORDS = "SELECT tsvector_to_array(to_tsvector('english', %(query)s::text)) AS words"


@lru_cache(maxsize=4096)
def lexemes(query: str) -> tuple[str, ...]:
    """The words of a question as the text index knows them (stemmed, without stop words)."""
    [row] = fetch_dicts(_WORDS, {"query": query})
    return tuple(row["words"])


def recall_parameters(request: RecallRequest, *, weights: Weights, now: datetime) -> dict[str, Any]:
    """What every statement of a recall names: the scope, the filters, the bounds and the weights."""
    scope = request.scope
    return {
        "workspace": scope.workspace,
        "institutional": scope.workspace if weights.institutional else None,
        "user": scope.user,
        "agent": scope.agent,
        "now": now,
        "types": list(request.types) or None,
        "purposes": list(request.purposes) or None,
        "min_confidence": request.min_confidence,
        "depth": leg_depth(request.limit),
        "limit": request.limit,
        "offset": 0,
        "farthest": 1 - LEAST_RECALLED,
        **weights.parameters(),
    }


def question_parameters(vector: ModelVector | None, terms: list[str]) -> dict[str, Any]:
    """The question as the statements take it: a vector with its model, and each word in its slot."""
    words = {f"w{slot}": terms[slot] if slot < len(terms) else None for slot in range(TEXT_TERMS)}
    return {"vector": vector.vector if vector else None, "model": vector.model if vector else None, **words}


def _scope_queries(scope: Scope, terms: list[str]) -> dict[str, str]:
    """For the text index: the lexeme that names workspace and tier, and any of the rarer words.

    Without a word the query asks for a lexeme no row has, so the leg is empty.
    """
    words = " | ".join(rarest(terms)) or "'§'"
    return {
        f"s_{name}": f"'§{scope.workspace}.{tier.code}' & ({words})"
        for name, tier in (("institutional", Tier.INSTITUTIONAL), ("agent", Tier.AGENT))
    }


def _seconds(span: timedelta | None) -> float | None:
    seconds = span.total_seconds() if span else 0.0
    return seconds if seconds > 0 else None
