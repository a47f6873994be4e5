"""Django's `migrate`, one at a time: several processes may start together and each bring the database up to date."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from omnia.db import lock_key

NO_PGVECTOR = (
    "The database server at DATABASE_URL has no pgvector, the extension for vectors. Install it there "
    "(on Debian and Ubuntu: sudo apt-get install postgresql-18-pgvector, with the server's own version) "
    "and run this again. Without DATABASE_URL, `make run` brings a server that has it."
)
NOT_ALLOWED = (
    "The database user may not add the pgvector extension. As a superuser of the database run once: "
    "CREATE EXTENSION vector;"
)


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        check_pgvector(connection)
        with _alone(connection):
            super().handle(*args, **options)


def check_pgvector(connection: BaseDatabaseWrapper) -> None:
    """Raises CommandError with the fix when the database cannot hold vectors."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'")
        if cursor.fetchone():
            return
        cursor.execute(
            "SELECT trusted OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)"
            " FROM pg_available_extension_versions WHERE name = 'vector'"
        )
        row = cursor.fetchone()
    if row is None:
        raise CommandError(NO_PGVECTOR)
    if not row[0]:
        raise CommandError(NOT_ALLOWED)


@contextmanager
def _alone(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Holds the migration lock of the database, for the session.

    Asked for again and again, not waited for: a waiting statement would keep a snapshot open, and
    an index built concurrently by the holder would wait for that in turn.
    """
    key = lock_key("migrate")
    with connection.cursor() as cursor:
        while not _locked(cursor, key):
            time.sleep(0.2)
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


def _locked(cursor: Any, key: int) -> bool:
    cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
    return bool(cursor.fetchone()[0])
