"""Recall: the memories that answer a question, ranked (spec: recall; design: Recall).

One statement finds, fuses and ranks. Without an embedder, on its failure, or for a question that holds
nothing to search for, the remaining leg answers alone; a question is never an error. Rows named by the caller
and rows that hang together with what was found come on top, each once.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from memories.recall.as_of import find_as_of
from memories.recall.candidates import find, recall_parameters
from memories.recall.expansion import expand
from memories.recall.named import find_named
from memories.recall.related import Related
from memories.recall.request import RecallRequest, RecallResult
from memories.services import accesses, vectors
from memories.services.related import related_to
from memories.services.weights import weights
from memories.store.rows import memory_object, previewed
from memories.store.vectors import ModelVector
from omnia import metrics
from omnia.core.edition import Edition
from omnia.core.errors import Forbidden
from policies.domain.document import GraphExpansion
from policies.domain.effective import EffectivePolicy

_FACTORS = ("text_rank", "text_value", "vector_rank", "vector_value", "rrf", "source_weight", "confidence", "recency",
            "tier_weight")  # fmt: skip


def recall(request: RecallRequest, *, policy: EffectivePolicy, now: datetime) -> RecallResult:
    """The best `request.limit` live rows the scope may see, with what was named and what the graph adds, best first.

    Raises Forbidden `enterprise_required` for an expansion asked for in the Core edition.
    """
    started = time.perf_counter()
    walk = _walk(request, policy=policy)
    vector = vectors.for_query(request.query)
    rows = _rows(request, vector=vector, walk=walk, policy=policy, now=now)
    accesses.note(rows, now=now)
    links = {} if request.as_of else related_to(rows, scope=request.scope, policy=policy, now=now)
    found = [_recalled(row, links=links, request=request, policy=policy) for row in rows]
    mode = "lookup" if not request.asks else "hybrid" if vector else "text" if request.query else "newest"
    metrics.RECALL_SECONDS.labels(mode=mode).observe(time.perf_counter() - started)
    return RecallResult(found, explain=_explained(mode, walk) if request.explain else None)


def _walk(request: RecallRequest, *, policy: EffectivePolicy) -> GraphExpansion | None:
    if request.as_of:
        return None
    walk = request.expansion.settled(policy.recall.graph_expansion)
    if walk and policy.edition is not Edition.ENTERPRISE:
        raise Forbidden("Graph expansion needs the Enterprise edition; leave it out.", code="enterprise_required")
    return walk


def _rows(
    request: RecallRequest,
    *,
    vector: ModelVector | None,
    walk: GraphExpansion | None,
    policy: EffectivePolicy,
    now: datetime,
) -> list[dict[str, Any]]:
    """The rows of every source, each once, best first."""
    factors = weights(policy)
    if request.as_of:
        then = find_as_of(request, as_of=request.as_of, vector=vector, weights=factors, now=now)
        return [row | {"source": "direct"} for row in then]
    direct = find(request, vector=vector, weights=factors, now=now) if request.asks else []
    rows = {row["id"]: row | {"source": "direct"} for row in direct}
    if not (request.seeds or request.lookups or walk):
        return list(rows.values())
    parameters = recall_parameters(request, weights=factors, now=now)
    _add(rows, find_named(request, parameters=parameters), source="lookup")
    if walk:
        added = expand(list(rows.values()), walk=walk, scope=request.scope, parameters=parameters)
        _add(rows, added, source="graph")
    return sorted(rows.values(), key=lambda row: (row["score"], row["id"]), reverse=True)


def _add(rows: dict[Any, dict[str, Any]], found: Iterable[dict[str, Any]], *, source: str) -> None:
    for row in found:
        rows.setdefault(row["id"], row | {"source": source})


def _recalled(
    row: dict[str, Any], *, links: Related, request: RecallRequest, policy: EffectivePolicy
) -> dict[str, Any]:
    memory = memory_object(row)
    memory |= {name: row[name] for name in ("score", "access_count", "source")}
    memory["related"] = links.get(row["id"], [])
    if row["source"] == "graph":
        memory["hops"] = row["hops"]
    if request.explain:
        memory["explain"] = _EXPLANATION[row["source"]](row)
    if request.preview:
        return previewed(memory, threshold_bytes=policy.recall.inline_threshold_bytes)
    return memory


def _direct(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in _FACTORS}


def _named(row: dict[str, Any]) -> dict[str, Any]:
    """No leg found a row that was named; it only counts as the best of one."""
    return _direct(row) | {"text_rank": None}


def _from_graph(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the graph has its score from a seed, and no factor of its own."""
    came = {name: row[name] for name in ("seed_id", "seed_score", "hops", "path")}
    return dict.fromkeys(_FACTORS) | {"graph": came}


_EXPLANATION = {"direct": _direct, "lookup": _named, "graph": _from_graph}


def _explained(mode: str, walk: GraphExpansion | None) -> dict[str, Any]:
    return {"mode": mode} | ({"graph_expansion": asdict(walk)} if walk else {})
