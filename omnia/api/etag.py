"""Writes that must not overwrite what their author has not seen (design: ETag / If-Match)."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest

from omnia.core.errors import PreconditionFailed, PreconditionRequired


def etag_of(uid: UUID, *, generation: int) -> str:
    """The entity tag of one generation of a document."""
    return f'"{uid}:{generation}"'


def require_match(request: HttpRequest, *, current: str) -> None:
    """Raises PreconditionRequired without If-Match, PreconditionFailed when it names another generation."""
    given = request.headers.get("If-Match")
    headers = {"ETag": current}
    if given is None:
        raise PreconditionRequired("Send If-Match with the ETag you read.", headers=headers)
    if given.strip() != "*" and current not in (tag.strip() for tag in given.split(",")):
        raise PreconditionFailed(
            "It has changed since; read it again. The ETag header is the current one.", headers=headers
        )
