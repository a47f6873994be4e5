"""The erasure of a person: ordered here, carried out in the background, shown by its certificate (reference: erasure)."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel
from rest_framework.request import Request

from memories.api.scope import admit_person
from memories.services.erasure import certificate, request_erasure
from omnia.api.principal import Role
from omnia.api.responses import json_response
from omnia.api.views import ApiView
from omnia.core.errors import BadInput, FieldProblem, Forbidden
from policies.services.access import open_workspace

_LONGEST = 253
_WORKSPACE = OpenApiParameter(
    "workspace", str, OpenApiParameter.QUERY, description="UID or name; left out: everywhere, for platform admins only."
)


class ErasureAnswer(BaseModel):
    id: UUID
    status: Literal["running", "erased", "completed"]


class CertificateAnswer(ErasureAnswer):
    workspace_id: UUID | None
    requested_at: datetime
    completed_at: datetime | None
    removed: dict[str, int]
    nothing_matched: bool
    rows_left: int | None


class ErasureView(ApiView):
    """Everything held on one person."""

    body_optional = True

    @extend_schema(
        summary="Erase a person",
        description=(
            "Deletes for good, in the background, every memory of the user with its history, relations, vectors and keys,"
            " remembered revocations, kept answers and bound tokens. What is saved for the user until the erasure is"
            " completed goes too."
        ),
        operation_id="eraseSubject",
        parameters=[_WORKSPACE],
        request=None,
        responses={202: ErasureAnswer},
    )
    def post(self, request: Request, person: str) -> HttpResponse:
        if not person.strip() or len(person) > _LONGEST or not person.isprintable():
            detail = f"1 to {_LONGEST} printable characters are expected"
            raise BadInput(
                f"user: {detail}", code="invalid_user", errors=[FieldProblem("/user", "invalid_user", detail)]
            )
        self.query.only("workspace")
        if self.body:
            raise BadInput("An erasure takes no body: nothing narrows it further.", code="unknown_parameter")
        erasure = request_erasure(person, workspace=self._workspace(person), actor=self.actor)
        return json_response({"id": erasure, "status": certificate(erasure).status}, status=202)

    def _workspace(self, person: str) -> UUID | None:
        """Where the caller may erase the person: a workspace they own, or everywhere."""
        if self.principal.subject not in (None, person):
            raise Forbidden("This token is bound to another user.", code="bound_to_a_user")
        if self.query.text("workspace") is None:
            if not self.principal.platform_admin:
                raise Forbidden("Name the workspace; only platform admins erase everywhere.", code="role_too_small")
            return None
        return admit_person(self, at_least=Role.OWNER).workspace.uid


class CertificateView(ApiView):
    """How far an erasure is, and what it removed."""

    @extend_schema(
        summary="Show the certificate of an erasure", operation_id="showErasure", responses=CertificateAnswer
    )
    def get(self, request: Request, erasure: UUID) -> HttpResponse:
        shown = certificate(erasure)
        if not self.principal.platform_admin:
            open_workspace(self.principal, str(shown.workspace), at_least=Role.OWNER)
        return json_response(shown.as_json())
