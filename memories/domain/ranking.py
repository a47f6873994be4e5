"""The recall formula: `score = rrf × source weight × confidence × recency × tier weight` (design: Recall).

The statement in `memories/sql` computes it in the database; this is the same formula in words we can
test, and the constants both use.
"""

from __future__ import annotations

from datetime import datetime, timedelta

LEG_DEPTH_LEAST = 20
DEFAULT_LIMIT, LARGEST_LIMIT = 15, 100
LEAST_RECALLED, LEAST_FOUND = 0.08, 0.3
"""The cosine from which a row without a word of the question is recalled, and from which a search shows it.

A recall would rather answer too much: told in a few words, what is meant lies near the question hardly more often
than not. Below its bound lie five of six unrelated texts, and no answer of LoCoMo is lost. A model whose unrelated
texts lie nearer just answers more.
"""


def leg_depth(limit: int) -> int:
    """How many rows each leg hands to the fusion: twice the limit, at least 20."""
    return max(LEG_DEPTH_LEAST, 2 * limit)


def rrf(*ranks: int | None, k: int) -> float:
    """Reciprocal rank fusion of one row's 1-based ranks; None where a leg did not find it."""
    return sum(1 / (k + rank) for rank in ranks if rank is not None)


def recency(age: timedelta, *, half_life: timedelta | None, floor: float) -> float:
    """Between `floor` and 1: halves its way down to the floor, so an old match is never lost.

    A negative age counts as none; without a half-life there is no decay.
    """
    if half_life is None or half_life <= timedelta(0):
        return 1.0
    halvings = max(age, timedelta(0)) / half_life
    return float(floor + (1 - floor) * 2 ** -min(halvings, 1000.0))


def age_of(
    *, observed_at: datetime | None, created_at: datetime, reinforced_at: datetime | None, now: datetime
) -> timedelta:
    """Since it was observed (else saved), or last reinforced when that is later."""
    said = observed_at or created_at
    return now - (max(said, reinforced_at) if reinforced_at else said)
