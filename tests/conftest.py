"""The whole run's own PostgreSQL and Redis, unless DATABASE_URL names others.

They are started once, by the process pytest was started as, before Django reads its settings, and
live in a temporary folder: a run meets neither `make run` nor another run. With several workers the
migrations run once and each worker's database is a copy.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import django
import pytest
import pytest_django
from django.conf import settings

from omnia.embedded.running import broker_url
from omnia.embedded.servers import Servers
from tests.naming import named

_TEMPLATE = "OMNIA_TEST_TEMPLATE"


def _start_servers() -> None:
    folder = Path(tempfile.mkdtemp(prefix="omnia-tests-"))
    servers = Servers(folder, durable=False)

    def stop() -> None:
        servers.stop()
        shutil.rmtree(folder)

    atexit.register(stop)
    servers.start_redis()
    servers.start_postgres()
    os.environ.update(DATABASE_URL=servers.database_url, REDIS_URL=servers.redis_url)
    os.environ.setdefault("OMNIA_SECRET_KEY", "the tests' own")
    os.environ.setdefault("OMNIA_ENTERPRISE", "1")


def _use_own_redis_database(worker: str) -> None:
    """Workers share the Redis server but not its keys. Their settings are read by the time we are."""
    number = int(worker.removeprefix("gw")) + 1
    settings.REDIS_URL = settings.REDIS_URL.replace("?db=0", f"?db={number}")
    settings.CACHES["default"]["LOCATION"] = settings.REDIS_URL
    settings.CELERY_BROKER_URL = broker_url(settings.REDIS_URL)


OURS = not os.environ.get("DATABASE_URL")
if OURS:
    _start_servers()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omnia.settings")
os.environ.setdefault("OMNIA_ACCESS_FLUSH_SECONDS", "0")  # a thread of its own would outlive the test it began in
if _TEMPLATE in os.environ:
    _use_own_redis_database(os.environ["PYTEST_XDIST_WORKER"])
django.setup()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the approved texts anew; read the diff")


def pytest_configure(config: pytest.Config) -> None:
    if OURS and config.getoption("numprocesses", None):
        manage = Path(__file__).parent.parent / "manage.py"
        subprocess.run([sys.executable, manage, "migrate", "--verbosity=0", "--skip-checks"], check=True)
        os.environ[_TEMPLATE] = "omnia"


def pytest_make_parametrize_id(val: object) -> str | None:
    """A set among the parameters is named by its members in order; pytest names the rest."""
    return named(val) if isinstance(val, (set, frozenset)) else None


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    from django.db import connection

    if template := os.environ.get(_TEMPLATE):
        connection.settings_dict["TEST"]["TEMPLATE"] = template


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker) -> None:
    """Lets a test that commits empty its tables afterwards: the audit trail refuses that otherwise."""
    from django.db import connection

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        for table in ("omnia_audit", "omnia_audit_seal"):
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {table}_no_truncate")
