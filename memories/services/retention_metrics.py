"""What retention deleted, for Prometheus (reference: metrics): counted in the store, told by any process."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from django.db import DatabaseError
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from memories.store import retention
from omnia.logs import describe

logger = logging.getLogger(__name__)


class RetentionCollector(Collector):
    """One counter by tier and cause. A store that is away leaves it out."""

    def collect(self) -> Iterator[CounterMetricFamily]:
        try:
            counted = retention.totals()
        except DatabaseError as error:
            logger.warning("what retention deleted is not told: %s", describe(error))
            return
        deleted = CounterMetricFamily(
            "omnia_memory_retention_deleted", "Memories deleted for good, by tier and why.", labels=["tier", "cause"]
        )
        for tier, cause, rows in counted:
            deleted.add_metric([tier.value, cause.value], rows)
        yield deleted
