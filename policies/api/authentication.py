"""Bearer tokens of either kind: our own, and where the operator allows it those of the cluster's ServiceAccounts."""

from __future__ import annotations

import re

from django.conf import settings
from rest_framework.request import Request

from omnia.api.authentication import TokenAuthentication
from omnia.api.principal import Principal
from policies.services.service_accounts import principal_of_service_account

LONGEST_TOKEN = 16_384
_JWT = re.compile(r"bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)", re.ASCII | re.IGNORECASE)


class BearerAuthentication(TokenAuthentication):
    """A token in the form of a JWT is the cluster's to judge; every other one is ours."""

    def authenticate(self, request: Request) -> tuple[Principal, Principal] | None:
        principal = service_account_in(request.META.get("HTTP_AUTHORIZATION", ""))
        return super().authenticate(request) if principal is None else (principal, principal)


def service_account_in(header: str) -> Principal | None:
    """The ServiceAccount whose token an Authorization header shows; None when it shows no such token.

    Raises as `principal_of_service_account`.
    """
    if not settings.OMNIA.cluster.service_accounts.audiences or len(header) > LONGEST_TOKEN:
        return None
    match = _JWT.fullmatch(header)
    return principal_of_service_account(match[1]) if match else None
