"""What Prometheus is told (reference: Audit, events, metrics).

Labels take few, known values: never an id, a path, a text or anything else a caller chooses.
"""

from __future__ import annotations

import os

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

REQUESTS = Counter("omnia_memory_api_requests", "Answers given.", ["method", "route", "status_code"])
REQUEST_SECONDS = Histogram(
    "omnia_memory_api_request_duration_seconds", "Time to an answer.", ["method", "route"], buckets=_SECONDS
)
SAVES = Counter("omnia_memory_saves", "Saves by tier and what became of them.", ["tier", "action"])
RECALL_SECONDS = Histogram("omnia_memory_recall_duration_seconds", "Time of a recall.", ["mode"], buckets=_SECONDS)
EMBED_REQUESTS = Counter("omnia_memory_embed_requests", "Calls of the embedder.", ["outcome"])
EMBED_SECONDS = Histogram("omnia_memory_embed_duration_seconds", "Time of one call of the embedder.", buckets=_SECONDS)
INGESTED = Counter(
    "omnia_memory_ingest_documents", "Documents taken in, and what became of them.", ["strategy", "outcome"]
)

SUPPRESSED = Counter("omnia_memory_writes_suppressed", "Saves refused for want of consent.", ["category", "reason"])

DENIED = Counter("omnia_memory_retrieval_denied", "Rows a caller's own filter withheld from its answer.")

ACCESSES_DROPPED = Counter("omnia_memory_accesses_dropped", "Reads that were not counted: too many, or no store.")

FROM_THE_STORE = CollectorRegistry(auto_describe=False)
"""What a worker counted and every process can tell: its collectors read the store when they are asked."""


def exposition() -> bytes:
    """Every metric in the text format.

    Several processes of one server add up when PROMETHEUS_MULTIPROC_DIR names a directory that is
    empty at the start; without it a process speaks for itself.
    """
    registry = REGISTRY
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry) + generate_latest(FROM_THE_STORE)
