"""Is it alive, is it ready, what does it count, and what can it be asked.

`/healthz` touches nothing, so that a slow store never gets a process killed. `/readyz` asks the
database, Redis and the migrations, a second each. Without Redis the service works on, slower
(reference: a flushed Redis costs latency, never data): that is "degraded", and still ready.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from time import monotonic

import redis
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from omnia import metrics
from omnia.api.permissions import IsPlatformAdmin
from omnia.api.responses import json_response
from omnia.api.schema import openapi_yaml
from omnia.api.views import ApiView

_DEADLINE_SECONDS = 1.0
_threads = ThreadPoolExecutor(max_workers=6, thread_name_prefix="readiness")


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return alive()


def alive() -> HttpResponse:
    """200, without a look at anything."""
    return json_response({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether requests can be served."""
    return readiness()


def readiness() -> HttpResponse:
    """200 when requests can be served, else 503; `checks` says what answered. Takes a second at most."""
    ends = monotonic() + _DEADLINE_SECONDS
    asked = {name: _threads.submit(check) for name, check in CHECKS.items()}
    checks = {name: _outcome(future, ends) for name, future in asked.items()}
    ready = checks["database"] == checks["migrations"] == "ok"
    status = "unavailable" if not ready else "ok" if checks["redis"] == "ok" else "degraded"
    return json_response({"status": status, "checks": checks}, status=200 if ready else 503)


def _outcome(future: Future[str], ends: float) -> str:
    try:
        return future.result(max(0.0, ends - monotonic()))
    except TimeoutError:
        future.cancel()
        return "no answer in time"
    except Exception:  # noqa: BLE001 - whatever went wrong, it is not ready, and the cause is not for everyone
        return "failed"


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return "ok"
    finally:
        connection.close()


def _redis() -> str:
    client = redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=_DEADLINE_SECONDS, socket_connect_timeout=_DEADLINE_SECONDS
    )
    with client:
        client.ping()
    return "ok"


def _migrations() -> str:
    try:
        missing = len(_shipped() - MigrationRecorder(connection).applied_migrations().keys())
        return f"{missing} to run: manage.py migrate" if missing else "ok"
    finally:
        connection.close()


@cache
def _shipped() -> frozenset[tuple[str, str]]:
    """The migrations this code came with."""
    return frozenset(MigrationLoader(None).graph.nodes)


CHECKS: dict[str, Callable[[], str]] = {"database": _database, "redis": _redis, "migrations": _migrations}


class Metrics(ApiView):
    """Prometheus' text format: for a platform admin, or for all with OMNIA_METRICS_OPEN."""

    def get_permissions(self) -> list[BasePermission]:
        return [] if settings.OMNIA.metrics_open else [IsPlatformAdmin()]

    def check_throttles(self, request: Request) -> None:
        """A scrape is never throttled."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(metrics.exposition(), content_type="text/plain; version=0.0.4; charset=utf-8")


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document."""
    return HttpResponse(
        openapi_yaml(), content_type="application/yaml", headers={"Cache-Control": "public, max-age=60"}
    )


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The document to try out, with nothing loaded from elsewhere."""
    return render(request, "omnia_api/docs.html")
