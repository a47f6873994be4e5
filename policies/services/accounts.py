"""Accounts of people who sign in to the dashboard. What they may do stands in the workspace documents (design: Auth)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from omnia.audit.record import record
from omnia.core.actor import Actor
from omnia.core.errors import BadInput

_PASSWORD_BYTES = 12


@dataclass(frozen=True, slots=True)
class NewAccount:
    """An account that exists now; `password` is known here and nowhere else."""

    user: User
    password: str


def create_account(username: str, *, platform_admin: bool, actor: Actor) -> NewAccount:
    """Makes the account and its audit row. Raises BadInput for a name that is taken or none."""
    password = secrets.token_urlsafe(_PASSWORD_BYTES)
    user = User(username=username, is_superuser=platform_admin)
    user.set_password(password)
    with transaction.atomic():
        try:
            user.full_clean()
        except ValidationError as error:
            raise BadInput(" ".join(error.messages), code="invalid_account") from None
        user.save()
        facts = {"name": username, "platform_admin": platform_admin}
        record("account_created", workspace=None, actor=actor, metadata=facts)
    return NewAccount(user, password)
