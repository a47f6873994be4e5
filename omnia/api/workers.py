"""When each background task last did its work, so that an alert can ask how long ago that was (reference: metrics).

Kept in the store: a worker answers no scrape, and one that is gone could not say so.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from django.db import DatabaseError
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from omnia.db import execute, fetch_dicts
from omnia.logs import describe

logger = logging.getLogger(__name__)

NOTHING_DUE = "nothing due"
"""What a task answers that had nothing to do, where that says nothing of whether its work succeeds."""

_NOTE = """
INSERT INTO omnia_worker_success (name, at) VALUES (%(name)s, statement_timestamp())
ON CONFLICT (name) DO UPDATE SET at = excluded.at
"""


def note_success(*, sender: Any, result: Any, **_signal: object) -> None:
    """Receiver of Celery's `task_success`. A store that is away costs the mark, not the task."""
    if result == NOTHING_DUE:
        return
    try:
        execute(_NOTE, {"name": sender.name.rpartition(".")[2]})
    except DatabaseError as error:
        logger.warning("the success of a task is not noted: %s", describe(error))


class WorkerCollector(Collector):
    """One gauge by task. A store that is away leaves it out."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        try:
            rows = fetch_dicts("SELECT name, extract(epoch FROM at)::float8 AS at FROM omnia_worker_success", {})
        except DatabaseError as error:
            logger.warning("the last success of the tasks is not told: %s", describe(error))
            return
        told = GaugeMetricFamily(
            "omnia_memory_worker_last_success_timestamp_seconds",
            "When a background task last did its work.",
            labels=["name"],
        )
        for row in rows:
            told.add_metric([row["name"]], row["at"])
        yield told
