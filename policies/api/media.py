"""The media types of documents: JSON, YAML, and merge patches of either (design: Policies, workspaces)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.http import HttpRequest, HttpResponse
from rest_framework.parsers import BaseParser

from omnia.api.parsing import StrictJSONParser
from omnia.api.responses import json_response
from omnia.core.errors import BadInput, TooLarge
from policies.domain.manifest import dump_document, load_documents

YAML = "application/yaml"
LARGEST_YAML = 3 * 1024 * 1024
"""Bytes; what a Kubernetes API server takes of an object."""


class YAMLParser(BaseParser):
    """`application/yaml`: one document. Raises BadInput for any other text, TooLarge over 3 MiB."""

    media_type = YAML

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: object = None) -> Any:
        content: bytes = stream.read()
        if len(content) > LARGEST_YAML:
            raise TooLarge("A YAML body may have 3 MiB.")
        try:
            documents = load_documents(content.decode())
        except UnicodeDecodeError:
            raise BadInput("The body is not UTF-8 text.", code="invalid_manifest") from None
        if len(documents) != 1:
            raise BadInput("The body must be one document.", code="invalid_manifest")
        return documents[0]


class MergePatchParser(StrictJSONParser):
    """`application/merge-patch+json` (RFC 7396)."""

    media_type = "application/merge-patch+json"


PARSERS = (StrictJSONParser, YAMLParser, MergePatchParser)


def shown(
    request: HttpRequest, payload: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """The payload as the caller accepts it: YAML when they ask for it, else JSON."""
    given = {"Vary": "Accept", **(headers or {})}
    if not _wants_yaml(request.headers.get("Accept", "")):
        return json_response(payload, status=status, headers=given)
    return HttpResponse(dump_document(payload), status=status, headers=given, content_type=f"{YAML}; charset=utf-8")


def _wants_yaml(accept: str) -> bool:
    named = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    return YAML in named and "application/json" not in named[: named.index(YAML)]
