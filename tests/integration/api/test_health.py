"""Alive, ready, counted, described: `/healthz`, `/readyz`, `/metrics`, `/openapi.yaml`, `/docs`."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import yaml
from django.db import connections
from django.test import Client

from omnia.api import health
from omnia.api.principal import Role
from tests.callers import caller

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def plain_static(settings):
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }


def test_alive_asks_nobody(django_assert_num_queries, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with django_assert_num_queries(0):
        answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_ready_when_all_answer():
    answer = Client().get("/readyz")
    assert answer.json() == {"status": "ok", "checks": {"database": "ok", "redis": "ok", "migrations": "ok"}}
    assert answer.status_code == 200


def test_without_redis_it_is_slower_and_still_ready(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    assert answer.json()["checks"]["redis"] == "failed"


def test_without_the_database_it_is_not_ready(monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "HOST", "127.0.0.1")
    monkeypatch.setitem(connections.settings["default"], "PORT", "1")
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")
    assert answer.json()["checks"]["database"] == "failed"


def test_with_migrations_to_run_it_is_not_ready(monkeypatch):
    shipped = health._shipped() | {("memories", "9999_next")}
    monkeypatch.setattr(health, "_shipped", lambda: shipped)
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["migrations"]) == (503, "1 to run: manage.py migrate")


def test_a_check_that_hangs_is_not_waited_for(monkeypatch):
    import threading

    release = threading.Event()
    monkeypatch.setattr(health, "_DEADLINE_SECONDS", 0.01)
    monkeypatch.setitem(health.CHECKS, "database", lambda: str(release.wait(30)))
    answer = Client().get("/readyz")
    release.set()
    assert (answer.status_code, answer.json()["checks"]["database"]) == (503, "no answer in time")


def test_a_failing_check_tells_no_secret(monkeypatch):
    def fail() -> str:
        raise RuntimeError("password=MARKER")

    monkeypatch.setitem(health.CHECKS, "database", fail)
    assert b"MARKER" not in Client().get("/readyz").content


def test_metrics_are_for_a_platform_admin():
    assert Client().get("/metrics").status_code == 401
    assert caller(Role.OWNER).get("/metrics").status_code == 403
    answer = caller(Role.PLATFORM_ADMIN).get("/metrics")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    assert b"# TYPE omnia_memory_api_requests_total counter" in answer.content


def test_metrics_are_for_all_when_the_operator_says_so(settings):
    settings.OMNIA = replace(settings.OMNIA, metrics_open=True)
    assert Client().get("/metrics").status_code == 200


@pytest.mark.parametrize("path", ["/openapi.yaml", "/api/v1/openapi.yaml"])
def test_the_document_is_served(path):
    answer = Client().get(path)
    assert answer["Content-Type"] == "application/yaml"
    document = yaml.safe_load(answer.content)
    assert document["openapi"].startswith("3.1.")
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


def test_the_docs_load_nothing_from_elsewhere_and_run_nothing_inline():
    page = Client().get("/docs").content.decode()
    assert "swagger-ui-bundle" in page
    assert re.findall(r'(?:src|href|data-document)="(?!/)', page) == []
    assert re.findall(r"<script(?![^>]* src=)|<style|\son\w+=|style=", page) == []


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/openapi.yaml", "/docs"])
def test_nothing_can_be_posted_to_them(path):
    assert caller(Role.PLATFORM_ADMIN).post(path).status_code == 405
