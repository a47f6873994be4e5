"""The few things PostgreSQL does for us that the ORM has no word for."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import orjson
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from psycopg import RawCursor, RawServerCursor
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads

set_json_loads(orjson.loads)  # of the columns read here; model fields parse their own


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
    execute("SELECT pg_advisory_xact_lock(%(key)s::bigint)", {"key": lock_key(*parts)})


def try_advisory_locks(keys: Collection[int]) -> set[int]:
    """Takes those of the transaction-scoped locks that are free, and answers which; never waits."""
    sql = "SELECT key FROM unnest(%(keys)s::bigint[]) AS key WHERE pg_try_advisory_xact_lock(key)"
    return {row["key"] for row in fetch_dicts(sql, {"keys": list(keys)})}


@contextmanager
def statement_timeout(milliseconds: int) -> Iterator[None]:
    """Bounds every statement inside, for the surrounding transaction only."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(milliseconds)])
    yield


def database_time() -> datetime:
    """The database's clock now: the one all processes share."""
    [row] = fetch_dicts("SELECT clock_timestamp() AS now", {})
    return row["now"]  # type: ignore[no-any-return]


@cache
def load_sql(package: str, name: str) -> str:
    """The statement in `<package>/sql/<name>.sql`, read once, without its comments and indentation.

    The database and its driver parse what is sent; the header is for us.
    """
    text = (files(package) / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return " ".join(line for line in lines if line and not line.startswith("--"))


def fetch_dicts(sql: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of one statement as dictionaries, in the order the statement gives.

    `sql` names its parameters `%(name)s`; `jsonb` columns come parsed.
    """
    return _run(sql, parameters).fetchall()


@contextmanager
def streamed_dicts(sql: str, parameters: Mapping[str, Any], *, at_a_time: int) -> Iterator[Iterator[dict[str, Any]]]:
    """As `fetch_dicts` for an answer too large to hold: its rows, fetched so many at a time, inside a transaction."""
    text, names = _numbered(sql)
    with (
        transaction.atomic(),
        connection.wrap_database_errors,
        RawServerCursor(connection.connection, "streamed", row_factory=dict_row) as cursor,
    ):
        cursor.itersize = at_a_time
        cursor.execute(text, [parameters[name] for name in names], binary=True)
        yield iter(cursor)


def execute(sql: str, parameters: Mapping[str, Any]) -> int:
    """Runs one statement that answers no rows; how many it touched."""
    return _run(sql, parameters).rowcount


def _run(sql: str, parameters: Mapping[str, Any]) -> RawCursor[dict[str, Any]]:
    """One prepared statement on Django's connection, its answer in binary.

    The names are turned into `$n` once per text: the driver would read the whole text again for every
    call, and keeps what it read only of short ones. Django's query log, where one is asked for, sees it.
    """
    text, names = _numbered(sql)
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    database.validate_no_broken_transaction()
    started = time.perf_counter()
    with database.wrap_database_errors:
        cursor = RawCursor(database.connection, row_factory=dict_row)
        cursor.execute(text, [parameters[name] for name in names], prepare=True, binary=True)
    if database.queries_logged:
        database.queries_log.append({"sql": sql, "time": f"{time.perf_counter() - started:.3f}"})
    return cursor


def rewrite_tables(tables: Sequence[str], *, whole: bool) -> None:
    """Renews what the planner knows of the tables, which quotes common values; outside any transaction.

    `whole` also writes each table anew and drops the log of changes so far, so that no file of the server holds
    what was deleted. It locks each table meanwhile, and is left to a superuser.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int >= 180000")
        if cursor.fetchone()[0]:
            cursor.execute(_CLEAR, [list(tables)])
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        if not whole or not cursor.fetchone()[0]:
            cursor.execute("ANALYZE " + ", ".join(tables))
            return
        for table in (*tables, "pg_statistic"):
            cursor.execute(f"VACUUM (FULL, ANALYZE) {table}")
        for statement in ("CHECKPOINT", "SELECT pg_switch_wal()", "CHECKPOINT"):
            cursor.execute(statement)


_CLEAR = """
SELECT pg_clear_attribute_stats(schemaname, tablename, attname, inherited) FROM pg_stats
WHERE schemaname = current_schema() AND tablename = ANY(%s)
"""
"""ANALYZE alone leaves the statistics of a table that has become empty as they were."""


_NAME = re.compile(r"%\((\w+)\)s")


@lru_cache(maxsize=512)
def _numbered(sql: str) -> tuple[bytes, tuple[str, ...]]:
    """The text with `$1`, `$2`, … for its names, and the names in that order."""
    names = tuple(dict.fromkeys(_NAME.findall(sql)))
    numbers = {name: f"${number}" for number, name in enumerate(names, 1)}
    return _NAME.sub(lambda match: numbers[match[1]], sql).encode(), names
