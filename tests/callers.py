"""Callers for tests that speak HTTP: a client that shows a token of the role asked for."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.utils import timezone

from omnia.api.principal import Role
from omnia.api.tokens import Issued, NewToken, create_token
from omnia.core.actor import Actor


def issue(role: Role = Role.OWNER, **wishes: Any) -> Issued:
    """A new token; every workspace unless `workspaces` names some."""
    new = NewToken(**{"name": role.label, "role": role, "workspaces": None, **wishes})
    return create_token(new, actor=Actor("system:tests"), now=timezone.now())


def bearer(secret: str, **headers: str) -> Client:
    """A client that shows `secret` with every request."""
    return Client(headers={"Authorization": f"Bearer {secret}", **headers})


def caller(role: Role = Role.OWNER, **wishes: Any) -> Client:
    """A client with a new token of `role`."""
    return bearer(issue(role, **wishes).secret)
