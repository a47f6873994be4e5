"""Near-duplicate thresholds, compared as distances (spec: dedup.embeddingSimilarity).

Half-precision vectors put equal cosines a hair apart: 2,000 pairs of one cosine spread over 4e-5. A distance
may therefore exceed its threshold by that much, so that they are all decided alike.
"""

from __future__ import annotations

TOLERANCE = 5e-5


def reaches(distance: float, *, threshold: float) -> bool:
    """Whether cosine distance `distance` (0 to 2) is a cosine similarity of at least `threshold`."""
    return distance <= 1 - threshold + TOLERANCE


def similarity(distance: float) -> float:
    """The cosine as it is shown: six decimals, never above 1."""
    return round(min(1.0, 1 - distance), 6)
