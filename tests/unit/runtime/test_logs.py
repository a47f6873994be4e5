"""A failed task's log line says its kind and place, not its words."""

from __future__ import annotations

import logging

from omnia.logs import TaskFailures


def test_the_report_of_a_failed_task_drops_the_message() -> None:
    told = {"name": "memories.tasks.sweep", "id": "7", "description": "raised unexpected", "exc": "Error('my secret')"}
    record = logging.LogRecord("celery.app.trace", logging.ERROR, "", 0, "%(exc)s", (told,), None)
    record.data = told
    assert TaskFailures().filter(record)
    assert record.getMessage() == "task memories.tasks.sweep[7] raised unexpected"


def test_other_lines_stay() -> None:
    record = logging.LogRecord("celery.app.trace", logging.INFO, "", 0, "done in %s", (3,), None)
    assert TaskFailures().filter(record)
    assert record.getMessage() == "done in 3"
