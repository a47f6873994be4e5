"""Access by default: nobody without a principal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from omnia.api.principal import Principal
from omnia.core.errors import Forbidden, Unauthenticated
from omnia.licensing.edition import require_enterprise

if TYPE_CHECKING:  # the framework loads this module while it loads its views
    from rest_framework.views import APIView


class IsAuthenticated(BasePermission):
    """The caller is known."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.user, Principal):
            raise Unauthenticated("Send an access token: Authorization: Bearer omnia_…")
        return True


class IsPlatformAdmin(IsAuthenticated):
    """The caller is a platform admin."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        super().has_permission(request, view)
        if not isinstance(request.user, Principal) or not request.user.platform_admin:
            raise Forbidden("This needs a platform admin.", code="role_too_small")
        return True


class IsEnterprise(IsAuthenticated):
    """The caller is known, and the installation has the Enterprise edition."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        super().has_permission(request, view)
        require_enterprise()
        return True
