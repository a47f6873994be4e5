"""The audit trail as a file: CSV for a spreadsheet, NDJSON for a program."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

COLUMNS = ("id", "at", "event", "workspace_id", "actor", "subject_hash", "memory_id", "request_id", "ip", "user_agent",
           "reason", "metadata")  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a spreadsheet takes for the beginning of a formula."""

Entries = Iterable[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Format:
    suffix: str
    content_type: str
    write: Callable[[Entries], Iterator[str]]


def exported(entries: Entries, *, kind: Format) -> Iterator[str]:
    """The file, line by line."""
    return kind.write(entries)


def _csv(entries: Entries) -> Iterator[str]:
    yield _line(COLUMNS)
    for entry in entries:
        yield _line([_cell(entry.get(name)) for name in COLUMNS])


def _ndjson(entries: Entries) -> Iterator[str]:
    for entry in entries:
        yield orjson.dumps(entry, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE).decode()


def _line(cells: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()


def _cell(value: Any) -> str:
    """The value as text that no spreadsheet computes: an apostrophe goes before what would begin a formula."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_UTC_Z).decode().strip('"')
    return f"'{text}" if text.startswith(_FORMULA) else text


FORMATS = {
    "csv": Format("csv", "text/csv; charset=utf-8", _csv),
    "ndjson": Format("ndjson", "application/x-ndjson", _ndjson),
}
