"""The recall statements, put together from their `.sql` files once per shape.

Two texts a shape: a scope read whole, and one whose shared tiers go through their indexes. A shape is
what must stand in the text and not in a parameter: the vector's dimension and column, and a search's predicate. Few
texts mean few plans: a connection plans each of them anew until it has seen it a few times.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from memories.domain.kinds import SOURCE_WEIGHT
from memories.domain.query_text import TEXT_TERMS
from memories.store.rows import SELECT
from memories.store.scope_sql import LIVE, SHARED_TIERS, USER_TIERS
from memories.store.vectors import Shape
from omnia.db import load_sql

FILTERS = """(%(types)s::text[] IS NULL OR m.type = ANY(%(types)s::text[]))
    AND (%(purposes)s::text[] IS NULL OR m.purpose = ANY(%(purposes)s::text[]))
    AND (%(min_confidence)s::float8 IS NULL OR m.confidence >= %(min_confidence)s::float8)"""
"""Let through by the filters of the recall."""
PASSING = f"{LIVE} AND {FILTERS}"
"""Live, and let through by the filters of the recall."""
_QUERIES = ("s_institutional", "s_agent")

_KNOWN = (
    "m.id, m.tier, m.source_type, m.confidence,"
    " greatest(coalesce(m.observed_at, m.created_at), m.reinforced_at) AS said"
)
"""What a row brings along for the factors of its score."""
_MASK = " | ".join(f"(coalesce((m.tsv @@ %(w{slot})s::tsquery)::int, 0) << {slot})" for slot in range(TEXT_TERMS))
"""One bit a word; the slot of a word that is not there is not evaluated."""
_SOURCE_WEIGHT = "CASE source_type {} ELSE 0.5 END".format(
    " ".join(f"WHEN '{name}' THEN {weight}" for name, weight in SOURCE_WEIGHT.items())
)


@cache
def whole_scope(shape: Shape) -> str:
    """The statement that reads every visible row."""
    return whole(_rows((*SHARED_TIERS, USER_TIERS)), passing=PASSING, shape=shape)


@lru_cache(maxsize=256)
def over(predicate: str, *, shape: Shape) -> str:
    """The same ranking over the rows of one predicate."""
    return whole("SELECT * FROM memories_memory", passing=predicate, shape=shape)


@cache
def indexed(shape: Shape) -> str:
    """The statement that reads the shared tiers through their indexes."""
    matching = (f"{tier} AND m.tsv @@ %({query})s::tsquery" for tier, query in zip(SHARED_TIERS, _QUERIES, strict=True))
    return load_sql("memories", "recall_large").format(
        known=_KNOWN,
        distance=_distance(shape),
        mask=_MASK,
        passing=PASSING,
        private=_rows([USER_TIERS]),
        nearest=_union(_nearest(tier, shape) for tier in SHARED_TIERS),
        matching=_rows(matching),
        **_ending(),
    )


@cache
def newest() -> str:
    """The statement for a recall without a question: the newest visible rows."""
    return latest(_rows((*SHARED_TIERS, USER_TIERS)), passing=PASSING)


@lru_cache(maxsize=256)
def named(selection: str) -> str:
    """The statement that scores rows asked for by name: `selection` gives their ids."""
    return load_sql("memories", "recall_named").format(known=_KNOWN, selection=selection, fused=_fused())


def latest(rows: str, *, passing: str) -> str:
    """The newest of these rows, ranked as a recall does without a question."""
    return load_sql("memories", "recall_newest").format(known=_KNOWN, rows=rows, passing=passing, fused=_fused())


def whole(rows: str, *, passing: str, shape: Shape) -> str:
    """The ranking over all of these rows that pass."""
    return load_sql("memories", "recall").format(
        known=_KNOWN,
        distance=_distance(shape),
        mask=_MASK,
        rows=rows,
        passing=passing,
        **_ending(),
    )


def _ending() -> dict[str, str]:
    return {
        "text_value": load_sql("memories", "recall_text").format(last_slot=TEXT_TERMS - 1),
        "text_leg": load_sql("memories", "recall_text_leg"),
        "fused": _fused(),
    }


def _fused() -> str:
    return load_sql("memories", "recall_fused").format(select=SELECT, source_weight=_SOURCE_WEIGHT)


def _distance(shape: Shape) -> str:
    """NULL for a row of another model: vectors of two models are never compared."""
    slot = shape.slot
    return (
        f"CASE WHEN m.{slot.model_column} = %(model)s::smallint"
        f" THEN m.{slot.column} <=> %(vector)s::halfvec({shape.dimensions}) END"
    )


def _nearest(tier: str, shape: Shape) -> str:
    slot, dimensions = shape.slot, shape.dimensions
    distance = f"m.{slot.column}::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})"
    return (
        f"(SELECT {_KNOWN}, {distance} AS distance FROM memories_memory m WHERE {tier}"
        f" AND vector_dims(m.{slot.column}) = {dimensions} AND m.{slot.model_column} = %(model)s::smallint"
        f" AND {PASSING} ORDER BY {distance} LIMIT %(depth)s)"
    )


def _rows(predicates: Iterable[str]) -> str:
    """The rows of each predicate; a branch of its own for each, so that each is answered by an index."""
    return _union(f"SELECT m.* FROM memories_memory m WHERE {predicate}" for predicate in predicates)


def _union(parts: Iterable[str]) -> str:
    return " UNION ALL ".join(parts)
