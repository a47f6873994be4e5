"""The OpenAPI document: valid, complete, and the one in `docs/` is the one the code makes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.validation import validate_schema

from omnia.api.schema import openapi_yaml
from tests.contract.test_http_routes import OPERATIONS

KEPT = Path(__file__).parents[2] / "docs" / "openapi.yaml"


@pytest.fixture(scope="module")
def document():
    return yaml.safe_load(openapi_yaml())


def test_the_kept_document_is_the_one_the_code_makes():
    fix = "run: manage.py spectacular --file docs/openapi.yaml --validate --fail-on-warn"
    assert KEPT.read_bytes() == openapi_yaml(), fix


def test_it_is_valid_openapi_and_was_made_without_a_guess(document):
    validate_schema(document)
    assert document["openapi"].startswith("3.1.")
    assert not GENERATOR_STATS


def test_it_holds_every_operation(document):
    described = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method in operations
        if method != "parameters"
    }
    served = {
        (
            method,
            "/"
            + route.replace("<uuid:", "{")
            .replace("<str:", "{")
            .replace("<path:", "{")
            .replace("<", "{")
            .replace(">", "}"),
        )
        for method, route in OPERATIONS
        if route.startswith("api/")
    }
    assert described >= served


def test_every_operation_tells_of_problems_tokens_and_its_own_name(document):
    operations = [each for path in document["paths"].values() for each in path.values()]
    assert len({each["operationId"] for each in operations}) == len(operations)
    for each in operations:
        assert "application/problem+json" in each["responses"]["default"]["content"]
        assert {"token": []} in each["security"]


def test_every_post_takes_an_idempotency_key(document):
    for path in document["paths"].values():
        for method, operation in path.items():
            names = {each["name"] for each in operation.get("parameters", ())}
            assert ("Idempotency-Key" in names) == (method == "post")
