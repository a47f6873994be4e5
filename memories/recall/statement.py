"""The recall statements, put together from their `.sql` files once per shape.

Two texts a shape: a scope read whole, and one whose shared tiers go through their indexes. A shape is
what must stand in the text and not in a parameter: the vector's dimension.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from memories.domain.kinds import SOURCE_WEIGHT
from memories.domain.query_text import TEXT_TERMS
from memories.store.rows import SELECT
from memories.store.scope_sql import LIVE
from omnia.db import load_sql

_FILTERS = """(%(types)s::text[] IS NULL OR m.type = ANY(%(types)s::text[]))
        AND (%(purposes)s::text[] IS NULL OR m.purpose = ANY(%(purposes)s::text[]))
        AND (%(min_confidence)s::float8 IS NULL OR m.confidence >= %(min_confidence)s::float8)"""
_INSTITUTIONAL = "m.workspace_id = %(institutional)s AND m.tier = 0"
_AGENT = "m.workspace_id = %(workspace)s AND m.tier = 1 AND m.agent_id = %(agent)s"
_USER = "m.workspace_id = %(workspace)s AND m.tier = 2 AND m.user_id = %(user)s"
_USER_FOR_AGENT = "m.workspace_id = %(workspace)s AND m.tier = 3 AND m.user_id = %(user)s AND m.agent_id = %(agent)s"
_SHARED, _PRIVATE = (_INSTITUTIONAL, _AGENT), (_USER, _USER_FOR_AGENT)

_SLOTS = range(TEXT_TERMS)
_MASK = " | ".join(f"(coalesce((m.tsv @@ %(w{i})s::tsquery)::int, 0) << {i})" for i in _SLOTS)
_SOURCE_WEIGHT = "CASE m.source_type {} ELSE 0.5 END".format(
    " ".join(f"WHEN '{name}' THEN {weight}" for name, weight in SOURCE_WEIGHT.items())
)
_FRAGMENTS = {
    "frequency": ", ".join(f"sum(rows * (mask >> {i} & 1))::float8 AS c{i}" for i in _SLOTS),
    "weights": ", ".join(f"ln(1 + (n - c{i} + 0.5) / (c{i} + 0.5)) AS w{i}" for i in _SLOTS),
    "text_value": " + ".join(f"(mask >> {i} & 1) * w{i}" for i in _SLOTS),
}


@cache
def whole_scope(dimensions: int) -> str:
    """The statement that reads every visible row."""
    return over(*(_visible(tier) for tier in _SHARED + _PRIVATE), dimensions=dimensions)


@lru_cache(maxsize=256)
def over(*predicates: str, dimensions: int) -> str:
    """The statement that reads every row of each predicate, which must exclude each other."""
    tiers = _union(_scan(predicate, dimensions) for predicate in predicates)
    return load_sql("memories", "recall").format(tiers=tiers, fused=_fused(), **_FRAGMENTS)


@cache
def indexed(dimensions: int) -> str:
    """The statement that reads the shared tiers through their indexes."""
    return load_sql("memories", "recall_large").format(
        private=_union(_scan(_visible(tier), dimensions) for tier in _PRIVATE),
        nearest=_union(_nearest(tier, dimensions) for tier in _SHARED),
        matching=_union(
            _matching(tier, query) for tier, query in zip(_SHARED, ("s_institutional", "s_agent"), strict=True)
        ),
        fused=_fused(),
        **_FRAGMENTS,
    )


@cache
def newest() -> str:
    """The statement for a recall without a question: the newest visible rows."""
    tiers = _union(
        f"SELECT m.id, coalesce(m.observed_at, m.created_at) AS said FROM memories_memory m WHERE {_visible(tier)}"
        for tier in _SHARED + _PRIVATE
    )
    return load_sql("memories", "recall_newest").format(tiers=tiers, fused=_fused())


def _fused() -> str:
    return load_sql("memories", "recall_fused").format(select=SELECT, source_weight=_SOURCE_WEIGHT)


def _visible(tier: str) -> str:
    return f"{tier} AND {LIVE} AND {_FILTERS}"


def _scan(predicate: str, dimensions: int) -> str:
    return (
        f"SELECT m.id, CASE WHEN m.embedding_model_id = %(model)s::smallint"
        f" THEN m.embedding <=> %(vector)s::halfvec({dimensions}) END AS distance,"
        f" {_MASK} AS mask, length(m.tsv) AS words"
        f" FROM memories_memory m WHERE {predicate}"
    )


def _nearest(tier: str, dimensions: int) -> str:
    distance = f"m.embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})"
    return (
        f"(SELECT m.id, {distance} AS distance FROM memories_memory m"
        f" WHERE {_visible(tier)} AND vector_dims(m.embedding) = {dimensions}"
        f" AND m.embedding_model_id = %(model)s::smallint ORDER BY {distance} LIMIT %(depth)s)"
    )


def _matching(tier: str, query: str) -> str:
    return (
        f"SELECT m.id, {_MASK} AS mask, length(m.tsv) AS words FROM memories_memory m"
        f" WHERE {_visible(tier)} AND m.tsv @@ %({query})s::tsquery"
    )


def _union(parts: Iterable[str]) -> str:
    return "\n    UNION ALL ".join(parts)
