"""Recall: the memories that answer a question, ranked (spec: recall; design: Recall).

One statement finds, fuses and ranks. Without an embedder, on its failure, or for a question that holds
nothing to search for, the remaining leg answers alone; a question is never an error.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from memories.recall.candidates import find
from memories.recall.request import RecallRequest, RecallResult
from memories.services import vectors
from memories.services.weights import weights
from memories.store.rows import memory_object, previewed
from omnia import metrics
from policies.domain.effective import EffectivePolicy

_FACTORS = ("text_rank", "text_value", "vector_rank", "vector_value", "rrf", "source_weight", "confidence", "recency",
            "tier_weight")  # fmt: skip


def recall(request: RecallRequest, *, policy: EffectivePolicy, now: datetime) -> RecallResult:
    """The best `request.limit` live rows the scope may see, best first, each with its score."""
    started = time.perf_counter()
    vector = vectors.for_query(request.query)
    rows = find(request, vector=vector, weights=weights(policy), now=now)
    found = [_recalled(row, request=request, policy=policy) for row in rows]
    mode = "hybrid" if vector else "text" if request.query else "newest"
    metrics.RECALL_SECONDS.labels(mode=mode).observe(time.perf_counter() - started)
    return RecallResult(found, explain={"mode": mode} if request.explain else None)


def _recalled(row: dict[str, Any], *, request: RecallRequest, policy: EffectivePolicy) -> dict[str, Any]:
    memory = memory_object(row)
    memory |= {"score": row["score"], "access_count": row["access_count"], "related": [], "source": "direct"}
    if request.explain:
        memory["explain"] = {name: row[name] for name in _FACTORS}
    if request.preview:
        return previewed(memory, threshold_bytes=policy.recall.inline_threshold_bytes)
    return memory
