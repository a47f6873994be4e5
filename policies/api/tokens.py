"""The token routes: made once shown, listed, withdrawn (reference: Roles; design: Tokens)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from omnia.api.message import read
from omnia.api.models import ApiToken
from omnia.api.responses import json_response
from omnia.api.views import ApiView
from policies.api import docs
from policies.api.token_message import TokenMessage
from policies.services.tokens import EVERYWHERE, make_token, visible_tokens, withdraw_token


class TokensView(ApiView):
    """The tokens the caller may deal with; a new one."""

    tells_once = True

    @docs.list_tokens
    def get(self, request: Request) -> HttpResponse:
        self.query.only()
        return json_response({"items": [token_object(row) for row in visible_tokens(self.principal)]})

    @docs.create_token
    def post(self, request: Request) -> HttpResponse:
        issued = make_token(
            read(TokenMessage, self.body).wish(), principal=self.principal, actor=self.actor, now=self.now
        )
        return json_response(token_object(issued.token) | {"token": issued.secret}, status=201)


class TokenView(ApiView):
    """One token."""

    @docs.withdraw_token
    def delete(self, request: Request, token: UUID) -> HttpResponse:
        withdraw_token(token, principal=self.principal, actor=self.actor, now=self.now)
        return json_response({"status": "revoked", "id": token})


def token_object(row: ApiToken) -> dict[str, Any]:
    """A token in the wire form, never its secret."""
    return {
        "id": row.id,
        "name": row.name,
        "role": row.role,
        "workspaces": [EVERYWHERE] if row.all_workspaces else [str(each) for each in row.workspaces],
        "user": row.subject,
        "scopes": row.scopes,
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "last_used_at": row.last_used_at,
    }
