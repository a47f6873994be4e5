"""The errors every layer speaks. One handler in `omnia.api.errors` turns them into problem+json.

Raise the kind that fits, with a stable snake_case `code` and a `detail` that says how to put it
right. A detail never repeats memory text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One violated rule at one place: an RFC 6901 pointer from the document root."""

    pointer: str
    code: str
    detail: str

    def as_json(self) -> dict[str, str]:
        return {"pointer": self.pointer, "code": self.code, "detail": self.detail}


class OmniaError(Exception):
    """The root of what we raise on purpose."""

    status: ClassVar[int] = 500
    default_code: ClassVar[str] = "internal_error"

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        errors: Sequence[FieldProblem] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.default_code
        self.errors = tuple(errors)
        self.headers = dict(headers or {})


class BadInput(OmniaError):
    status, default_code = 400, "invalid"


class Unauthenticated(OmniaError):
    status, default_code = 401, "unauthenticated"


class Forbidden(OmniaError):
    status, default_code = 403, "forbidden"


class NotFound(OmniaError):
    status, default_code = 404, "not_found"


class MethodNotAllowed(OmniaError):
    status, default_code = 405, "method_not_allowed"


class Conflict(OmniaError):
    status, default_code = 409, "conflict"


class PreconditionFailed(OmniaError):
    status, default_code = 412, "precondition_failed"


class TooLarge(OmniaError):
    status, default_code = 413, "too_large"


class UnsupportedMedia(OmniaError):
    status, default_code = 415, "unsupported_media_type"


class Unprocessable(OmniaError):
    status, default_code = 422, "unprocessable"


class PreconditionRequired(OmniaError):
    status, default_code = 428, "precondition_required"


class RateLimited(OmniaError):
    status, default_code = 429, "rate_limited"


class Unavailable(OmniaError):
    status, default_code = 503, "unavailable"
