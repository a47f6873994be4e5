"""What a new text is compared with: the memories near it, and how each of them contradicts it (spec: dedup)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memories.domain.conflict import Difference, differences
from memories.domain.save import Contradiction, Duplicate
from memories.domain.similarity import reaches, similarity
from memories.store.duplicates import Alike, Candidate, nearest
from memories.store.vectors import ModelVector
from policies.domain.effective import DedupRules


@dataclass(frozen=True, slots=True)
class Compared:
    """A memory near the new text."""

    candidate: Candidate
    differences: tuple[Difference, ...]

    def reaches(self, threshold: float) -> bool:
        return reaches(self.candidate.distance, threshold=threshold)

    def as_duplicate(self) -> Duplicate:
        return Duplicate(
            self.candidate.id, self.candidate.content, similarity(self.candidate.distance), self.differences
        )

    def as_contradiction(self) -> Contradiction | None:
        found = Contradiction(self.candidate.id, self.candidate.content, self.differences)
        return found if self.differences else None


def compared(
    alike: Alike, content: str, *, vector: ModelVector | None, rules: DedupRules, now: datetime
) -> list[Compared]:
    """The memories near enough to merge with or to name, nearest first.

    None when comparing is off, or when the text has no vector.
    """
    if not rules.enabled or vector is None:
        return []
    least = min(rules.auto_supersede_above, rules.surface_duplicates_above)
    found = nearest(alike, vector=vector, candidates=rules.candidate_limit, now=now)
    return [
        Compared(each, differences(each.content, content)) for each in found if reaches(each.distance, threshold=least)
    ]


def twins(near: Sequence[Compared], *, rules: DedupRules) -> list[Compared]:
    """Those that say the same as the text, nearest first."""
    return [each for each in near if each.reaches(rules.auto_supersede_above)]


def mergeable(near: Sequence[Compared], *, rules: DedupRules) -> list[Compared]:
    """The twins the text may be merged with: where merges are guarded, none that contradicts it."""
    return [each for each in twins(near, rules=rules) if not (rules.guards_merges and each.differences)]
