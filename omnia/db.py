"""The few things PostgreSQL does for us that the ORM has no word for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any

import orjson
from django.db import connection, transaction


def lock_key(*parts: object) -> int:
    """A signed 64-bit advisory-lock key; equal parts give equal keys, in every process."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def advisory_lock(*parts: object) -> None:
    """Waits for the transaction-scoped lock named by `parts`; the first statement of its transaction.

    Must come before the reads it guards: under READ COMMITTED each later statement then sees what
    the former holder wrote.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("an advisory lock needs a transaction")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [lock_key(*parts)])


@contextmanager
def statement_timeout(milliseconds: int) -> Iterator[None]:
    """Bounds every statement inside, for the surrounding transaction only."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(milliseconds)])
    yield


@cache
def load_sql(package: str, name: str) -> str:
    """The text of `<package>/sql/<name>.sql`, read once."""
    return (files(package) / "sql" / f"{name}.sql").read_text(encoding="utf-8")


def fetch_dicts(sql: str, parameters: Mapping[str, Any] | Sequence[Any]) -> list[dict[str, Any]]:
    """The rows of one statement as dictionaries, in the order the statement gives; `jsonb` columns come parsed.

    Django leaves JSON to its model fields and hands raw statements the text.
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        columns = cursor.description or ()
        names = [column.name for column in columns]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    for name in (column.name for column in columns if column.type_code == _JSONB):
        for row in rows:
            row[name] = None if row[name] is None else orjson.loads(row[name])
    return rows


_JSONB = 3802
"""The type's fixed object id."""
