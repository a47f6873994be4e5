"""How far embedding is, for Prometheus (reference: metrics): as a worker counted it last, told by any process."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from django.db import Error
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from memories.store import coverage
from omnia.logs import describe

logger = logging.getLogger(__name__)


class CoverageCollector(Collector):
    """Two gauges by workspace. A store that is away leaves them out."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        try:
            counted = coverage.kept()
        except Error as error:
            logger.warning("the coverage of vectors is not told: %s", describe(error))
            return
        share = GaugeMetricFamily(
            "omnia_memory_embedding_coverage",
            "Share of memories with a vector of the model in use, or of the one that is to follow.",
            labels=["workspace"],
        )
        backlog = GaugeMetricFamily(
            "omnia_memory_reembed_backlog", "Memories whose vector is still to be made.", labels=["workspace"]
        )
        for each in counted:
            share.add_metric([str(each.workspace)], each.share)
            backlog.add_metric([str(each.workspace)], each.backlog)
        yield share
        yield backlog
