"""Log lines without memory text: an error says its kind and place, never the values it failed on.

A database error repeats the row it refused and a validation error the input, so only the exception's
class and the frames of the trace are written (cases: Q, logs).
"""

from __future__ import annotations

import logging
import traceback
from types import TracebackType

from omnia.core.errors import OmniaError

_Exc = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class LineFormatter(logging.Formatter):
    """One line a record: time, level, logger, message; a trace without the exceptions' messages."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S")

    def formatException(self, ei: _Exc) -> str:  # noqa: N802 - the name is logging's
        frames = "".join(traceback.format_tb(ei[2])).rstrip()
        return f"{frames}\n{describe(ei[1])}"


class TaskFailures(logging.Filter):
    """Celery's report of a failed task repeats the exception's message; its kind and place are enough."""

    def filter(self, record: logging.LogRecord) -> bool:
        told = getattr(record, "data", None)
        if isinstance(told, dict) and "exc" in told:
            record.msg, record.args = "task %s[%s] %s", (told["name"], told["id"], told["description"])
        return True


def describe(error: BaseException | None) -> str:
    """The error's class, with its stable code or SQLSTATE when it has one; never its message."""
    if isinstance(error, OmniaError):
        return f"{type(error).__name__}({error.code})"
    state = getattr(error.__cause__, "sqlstate", None) if error else None
    return f"{type(error).__name__}({state})" if state else type(error).__name__
