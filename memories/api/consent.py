"""The events the privacy service posts, Enterprise only (spec: consentRevocation)."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import BaseModel
from rest_framework.request import Request

from memories.api import docs
from memories.api.messages import Identity, Label
from memories.api.scope import admit_person
from memories.services.revoke import revoke
from omnia.api.message import Message, read
from omnia.api.permissions import IsEnterprise
from omnia.api.principal import Role
from omnia.api.responses import json_response
from omnia.api.views import ApiView
from omnia.core.errors import Forbidden
from omnia.core.scope import Scope


class ConsentEventMessage(Message):
    """POST /memories/consent-events: the privacy service's own spelling."""

    userId: Identity  # noqa: N815
    category: Label


class ConsentEventAnswer(BaseModel):
    deleted: int


class ConsentEventsView(ApiView):
    """A user took a consent category back."""

    permission_classes = [IsEnterprise]

    @extend_schema(
        summary="Tell that a user revoked a consent category",
        description=(
            "The policy's `consentRevocation.action` is applied to the user's memories in the category; later writes in it"
            " are refused until a newer grant, whatever the action."
        ),
        operation_id="consentEvent",
        parameters=[docs.WORKSPACE, docs.SERVICE_GROUP],
        request=ConsentEventMessage,
        responses=ConsentEventAnswer,
    )
    def post(self, request: Request) -> HttpResponse:
        message = read(ConsentEventMessage, self.body)
        admitted = admit_person(self, at_least=Role.OWNER)
        if self.principal.subject not in (None, message.userId):
            raise Forbidden("This token is bound to another user.", code="bound_to_a_user")
        scope = Scope(admitted.workspace.uid, message.userId)
        return json_response(
            {"deleted": revoke(message.category, scope=scope, policy=admitted.policy, actor=self.actor)}
        )
