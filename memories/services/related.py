"""What the rows of an answer are related to, as far as the policy shows it (spec: recall.maxRelatedPerMemory)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memories.recall.related import Related, related
from omnia.core.edition import Edition
from omnia.core.scope import Scope
from policies.domain.effective import EffectivePolicy


def related_to(rows: Sequence[Mapping[str, Any]], *, scope: Scope, policy: EffectivePolicy, now: datetime) -> Related:
    """`related[]` of each row, by its id; a row without relations the scope may see is left out."""
    return related(
        [row["id"] for row in rows],
        most=policy.recall.max_related_per_memory,
        scope=scope,
        institutional=policy.edition is Edition.ENTERPRISE,
        now=now,
    )
