"""The OpenAPI document: what the schema generator is told about the house rules once, for every route.

A view says what is its own with `@extend_schema`; problems, tokens, the idempotency key and the
request id are added here, since every route has them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from omnia.api.errors import PROBLEM_JSON

_TEXT: dict[str, Any] = {"type": "string"}
PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "RFC 9457 problem details. `code` is stable; `error` repeats `detail`.",
    "required": ["type", "title", "status", "detail", "code", "error", "request_id"],
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": _TEXT,
        "code": _TEXT,
        "error": _TEXT,
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "detail"],
                "properties": {"pointer": _TEXT, "code": _TEXT, "detail": _TEXT},
            },
        },
        "request_id": _TEXT,
    },
}
_IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="1 to 255 characters; the same request with the same key is done once and answered again for a day.",
)
_REQUEST_ID = OpenApiParameter(
    "X-Request-ID", str, OpenApiParameter.HEADER, description="Comes back in the answer and stands in the log."
)


class HouseSchema(AutoSchema):
    """One operation."""

    def get_override_parameters(self) -> list[Any]:
        return [_REQUEST_ID, *([_IDEMPOTENCY_KEY] if self.method == "POST" else [])]

    def get_request_serializer(self) -> Any:
        return OpenApiTypes.OBJECT

    def get_response_serializers(self) -> Any:
        return OpenApiTypes.OBJECT

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation:
            operation["responses"]["default"] = {
                "description": "A problem.",
                "content": {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            }
        return operation

    def get_tags(self) -> list[str]:
        return [self.path.removeprefix("/api/v1").strip("/").split("/")[0]]


def add_problem(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Adds the problem's schema (SPECTACULAR_SETTINGS: POSTPROCESSING_HOOKS)."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    return result


class _Token(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "omnia.api.authentication.TokenAuthentication"
    match_subclasses = True
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "An access token: omnia_…"}


class _Session(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "omnia.api.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid", "description": "The dashboard's session."}


@cache
def openapi_yaml() -> bytes:
    """The whole document, made once a process."""
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    rendered: bytes = OpenApiYamlRenderer().render(document, renderer_context={})  # type: ignore[no-untyped-call]
    return rendered
