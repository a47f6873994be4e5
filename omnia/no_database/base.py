"""Says the fix on the first attempt to connect, instead of when the settings are read."""

from __future__ import annotations

from typing import Any, NoReturn

from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.db.backends.postgresql import base


class NoDatabaseError(ImproperlyConfigured, OperationalError):
    """An operational error too, so that `makemigrations` only warns that it cannot compare histories."""


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        return {}

    def get_new_connection(self, conn_params: dict[str, Any]) -> NoReturn:
        raise NoDatabaseError(
            "There is no database. Set DATABASE_URL=postgresql://USER:PASSWORD@HOST/NAME and "
            "REDIS_URL=redis://HOST:6379/0 (the same that `make run` got, if it got any), or start the embedded "
            "servers in another terminal: make run"
        )
