"""What holds for every answer: id, headers, log line, metrics, early refusals (security cases M, N 265, Q)."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client
from prometheus_client import REGISTRY

from omnia import metrics
from omnia.api.principal import Role
from omnia.logs import LineFormatter
from tests.callers import bearer, caller, issue
from tests.integration.api.routes import TEXT

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.integration.api.routes")]
ECHO = "/api/v1/echo"


@pytest.fixture(autouse=True)
def plain_static(settings):
    """Pages name static files; tests collect none."""
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }


def gentle(**headers: str) -> Client:
    """A client that looks at a 500 instead of raising what caused it."""
    return Client(raise_request_exception=False, headers=headers)


def lines(caplog) -> str:
    return "\n".join(LineFormatter().format(record) for record in caplog.records)


@pytest.mark.parametrize("given", ["r-1", "a" * 128, "01a2:b.c_d-e"])
def test_a_request_id_comes_back(given):
    answer = Client(headers={"X-Request-ID": given}).get(ECHO)
    assert answer["X-Request-ID"] == given == answer.json()["request_id"]


@pytest.mark.parametrize("given", ["", "a" * 129, "a b", "a\r\nX-Admin: 1", "é", "<script>"])
def test_a_request_id_that_is_none_is_replaced(given):
    answer = Client(headers={"X-Request-ID": given}).get(ECHO)
    assert re.fullmatch("[0-9a-f]{32}", answer["X-Request-ID"])


ANSWERS = [
    (ECHO, 401),
    ("/api/v1/nothing", 404),
    ("/api/v1/echo?a=%00", 400),
    ("/nothing", 404),
    ("/nothing%00", 404),
    ("/broken", 500),
    ("/form", 200),
]


@pytest.mark.parametrize(("path", "status"), ANSWERS)
def test_the_headers_are_on_every_answer(path, status):
    answer = gentle().get(path)
    assert answer.status_code == status
    policy = answer["Content-Security-Policy"]
    for directive in ("default-src 'none'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"):
        assert directive in policy
    assert "unsafe" not in policy
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cache-Control"] == "no-store"
    assert answer["X-Request-ID"]
    assert int(answer["Content-Length"]) == len(answer.content)


def test_over_tls_every_answer_says_so_for_a_year(settings):
    settings.SECURE_HSTS_SECONDS, settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = 31_536_000, True
    for path, _ in ANSWERS:
        assert "max-age=31536000" in gentle().get(path, secure=True)["Strict-Transport-Security"]


def test_pages_may_load_what_the_settings_say():
    assert "script-src 'self'" in Client().get("/form")["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/mcp", "/admin/nothing", "/metrics"])
def test_at_a_program_s_address_a_404_is_a_problem(path):
    answer = Client(headers={"Accept": "text/html"}).get(path)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("text/html,*/*;q=0.8", "text/html"),
        ("*/*", "text/html"),
        ("application/json", "application/problem+json"),
        ("application/problem+json", "application/problem+json"),
        ("text/html;q=0.1, application/json", "application/problem+json"),
    ],
)
def test_elsewhere_the_caller_gets_what_it_accepts(accept, kind):
    assert Client(headers={"Accept": accept}).get("/nothing")["Content-Type"].startswith(kind)


def test_a_page_that_fails_tells_nothing(caplog):
    answer = gentle().get("/broken")
    assert answer.status_code == 500
    assert b"MARKER" not in answer.content
    assert b"Traceback" not in answer.content
    assert "RuntimeError" in lines(caplog)


def test_an_error_page_that_cannot_be_shown_still_answers(settings):
    settings.TEMPLATES = [settings.TEMPLATES[0] | {"DIRS": []}]
    answer = Client().get("/nothing")
    assert (answer.status_code, answer.content) == (404, b"Not Found")


def test_a_form_without_its_csrf_token_is_refused_in_the_caller_s_form():
    strict = Client(enforce_csrf_checks=True)
    page = strict.post("/form")
    assert (page.status_code, page["Content-Type"]) == (403, "text/html; charset=utf-8")
    problem = strict.post("/form", headers={"Accept": "application/json"})
    assert (problem.status_code, problem.json()["code"]) == (403, "csrf_failed")


@pytest.mark.parametrize("query", ["a=%00", "a=b%00c", "%00=a", "a=%ff", "a=%ED%A0%80", "a=\x00", "a=\xff"])
def test_a_query_string_no_store_could_take_is_refused(query):
    answer = caller().get(ECHO, QUERY_STRING=query)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")


@pytest.mark.parametrize("query", ["workspace=%C3%BC", "workspace=\xc3\xbc", "a=%25&b=%", "workspace=%E2%82%AC"])
def test_any_other_query_string_is_read(query):
    assert caller().get(ECHO, QUERY_STRING=query).status_code == 200


@pytest.mark.parametrize("path", ["%00", "a%00b", "..%2f..%2fetc", "%ff", "%ED%A0%80", "{id}", "a" * 10_000])
def test_a_path_that_is_none_is_not_found(path):
    assert caller().get(f"/api/v1/{path}").status_code == 404


def test_a_wrong_method_says_which_are_right():
    answer = caller().put(ECHO)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, POST, DELETE")
    assert answer.json()["code"] == "method_not_allowed"


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "BREW", "__init__", "dispatch"])
def test_a_method_no_route_has_is_refused(method):
    assert caller().generic(method, ECHO).status_code == 405


@pytest.mark.parametrize(("kind", "status"), [("data", 400), ("detail", 500), ("token", 500), ("crash", 500)])
def test_a_fault_shows_its_text_to_nobody(kind, status, caplog):
    answer = caller().get(f"/api/v1/fault/{kind}")
    assert answer.status_code == status
    assert b"MARKER" not in answer.content
    assert "MARKER" not in lines(caplog)
    assert answer["X-Request-ID"] in lines(caplog)


def test_a_line_names_the_route_and_neither_path_nor_query(caplog):
    caller().get("/api/v1/fault/SECRET?workspace=SECRET", headers={"User-Agent": "SECRET"})
    access = [record.getMessage() for record in caplog.records if record.name == "omnia.access"]
    assert len(access) == 1
    assert access[0].startswith("GET /api/v1/fault/<str:kind> 500 ")
    assert "SECRET" not in lines(caplog)


def test_a_refusal_is_logged_with_who(caplog):
    client = Client(enforce_csrf_checks=True)
    client.get(ECHO)
    assert re.search(r"WARNING omnia.api.errors 401 unauthenticated - [0-9a-f]{32}", lines(caplog))


def test_a_refusal_of_a_known_caller_names_the_caller_s_id(caplog):
    issued = issue(Role.VIEWER)
    bearer(issued.secret).get("/api/v1/admin")
    assert re.search(
        rf"WARNING omnia.api.errors 403 role_too_small token:{issued.token.id} [0-9a-f]{{32}}", lines(caplog)
    )


def away(*_: object) -> None:
    raise OperationalError(f"connection to server failed: {TEXT}")


@pytest.mark.parametrize(
    ("headers", "kind"), [({}, "application/problem+json"), ({"Accept": "text/html"}, "text/html")]
)
def test_a_store_that_is_away_is_a_503_for_programs_and_people(headers, kind, monkeypatch, caplog):
    client = bearer("omnia_" + "a" * 43, **headers)
    client.raise_request_exception = False
    monkeypatch.setattr("omnia.api.authentication.principal_of", away)
    monkeypatch.setattr("tests.integration.api.routes.HttpResponse", away)
    answer = client.get("/form" if headers else ECHO)
    assert (answer.status_code, answer["Content-Type"].partition(";")[0]) == (503, kind)
    assert int(answer["Retry-After"]) > 0
    assert b"MARKER" not in answer.content
    assert "MARKER" not in lines(caplog)


def sample(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_a_request_is_counted_by_route_and_status():
    labels = {"method": "GET", "route": "api/v1/fault/<str:kind>"}
    counted = sample("omnia_memory_api_requests_total", status_code="500", **labels)
    timed = sample("omnia_memory_api_request_duration_seconds_count", **labels)
    caller().get("/api/v1/fault/anything")
    assert sample("omnia_memory_api_requests_total", status_code="500", **labels) == counted + 1
    assert sample("omnia_memory_api_request_duration_seconds_count", **labels) == timed + 1


def test_no_label_takes_a_value_the_caller_chooses():
    gentle().generic("MARKER", "/api/v1/MARKER?MARKER", headers={"User-Agent": "MARKER", "X-Request-ID": "MARKER"})
    caller(name="MARKER").get("/api/v1/fault/MARKER")
    assert b"MARKER" not in metrics.exposition()
    assert b'method="OTHER",route="unmatched"' in metrics.exposition()


def test_the_middleware_that_adds_headers_comes_before_what_may_answer():
    names = [path.rsplit(".", 1)[1] for path in settings.MIDDLEWARE]
    assert names.index("ContentPolicy") < names.index("RequestContext") < names.index("WhiteNoiseMiddleware")


def test_several_processes_count_together(tmp_path):
    program = (
        "from omnia import metrics; metrics.SAVES.labels('user', 'added').inc(); print(metrics.exposition().decode())"
    )
    environ = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "PATH": ""}
    for _ in range(2):
        told = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    assert 'omnia_memory_saves_total{action="added",tier="user"} 2.0' in told.stdout
