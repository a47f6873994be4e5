"""Who is calling, told from a bearer token or a dashboard session (design: Auth).

A token is looked up by its SHA-256 with one prepared statement, and never cached, so that a revoked
or expired one is refused at once. What cannot be a token is refused without asking the database.
"""

from __future__ import annotations

import hashlib
import re
from typing import cast

from django.contrib.auth.models import AbstractUser
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from omnia.api.principal import Principal, Role
from omnia.core.errors import Forbidden, Unauthenticated
from omnia.db import execute, fetch_dicts

PREFIX = "omnia_"
_BEARER = re.compile(rf"bearer {PREFIX}([A-Za-z0-9_-]{{20,200}})", re.ASCII | re.IGNORECASE)

_LOOK_UP = """
SELECT id, name, role, all_workspaces, workspaces, subject, scopes,
       last_used_at IS NULL OR last_used_at < statement_timestamp() - interval '1 minute' AS touch
FROM omnia_api_token
WHERE token_hash = %(hash)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp())
"""
_TOUCH = """
UPDATE omnia_api_token SET last_used_at = statement_timestamp()
WHERE id = (SELECT id FROM omnia_api_token WHERE id = %(id)s FOR NO KEY UPDATE SKIP LOCKED)
"""


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer omnia_…`. A header of any other form is refused, never passed over."""

    def authenticate(self, request: Request) -> tuple[Principal, Principal] | None:
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        principal = principal_of_header(header)
        return principal, principal

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class SessionAuthentication(BaseAuthentication):
    """The dashboard's session of an active user; an unsafe method needs the CSRF token."""

    def authenticate(self, request: Request) -> tuple[Principal, Principal] | None:
        user = getattr(request._request, "user", None)
        if not isinstance(user, AbstractUser) or not user.is_active:
            return None
        _enforce_csrf(request._request)
        principal = principal_of_user(user)
        return principal, principal


def hash_token(token: str) -> bytes:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).digest()


def principal_of_header(header: str) -> Principal:
    """The caller an Authorization header stands for. Raises Unauthenticated when it holds no live token."""
    match = _BEARER.fullmatch(header)
    principal = principal_of(PREFIX + match[1]) if match else None
    if principal is None:
        raise Unauthenticated("This is no valid access token.")
    return principal


def principal_of(token: str) -> Principal | None:
    """The caller a live token stands for; notes its use at most once a minute."""
    found = fetch_dicts(_LOOK_UP, {"hash": hash_token(token)})
    if not found:
        return None
    [row] = found
    if row["touch"]:
        execute(_TOUCH, {"id": row["id"]})
    role = Role.of(row["role"])
    return Principal(
        name=f"token:{row['name']}",
        caller=f"token:{row['id']}",
        role=role,
        workspaces=None if row["all_workspaces"] or role is Role.PLATFORM_ADMIN else frozenset(row["workspaces"]),
        subject=row["subject"],
        scopes=frozenset(row["scopes"]),
        platform_admin=role is Role.PLATFORM_ADMIN,
    )


def principal_of_user(user: AbstractUser) -> Principal:
    """The caller a signed-in user is; the roles are asked for per workspace."""
    return Principal(
        name=f"user:{user.get_username()}",
        caller=f"user:{user.pk}",
        user=user,
        platform_admin=user.is_superuser,
    )


class _CsrfCheck(CsrfViewMiddleware):
    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse:
        return cast(HttpResponse, reason)


def _enforce_csrf(request: HttpRequest) -> None:
    check = _CsrfCheck(lambda _: HttpResponse())
    check.process_request(request)
    if check.process_view(request, lambda _: HttpResponse(), (), {}) is not None:
        raise Forbidden("The session's CSRF token is missing or wrong; send X-CSRFToken.", code="csrf_failed")
