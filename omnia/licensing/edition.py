"""The edition in force (spec: Enterprise-gated sections).

Sections of a policy are gated in `policies.domain.effective`. What is here is for endpoints that exist
in Enterprise only.
"""

from __future__ import annotations

from django.conf import settings

from omnia.config import OmniaConfig
from omnia.core.edition import Edition
from omnia.core.errors import Forbidden


def current_edition() -> Edition:
    """The edition this process was started in."""
    config: OmniaConfig = settings.OMNIA
    return config.edition


def require_enterprise() -> None:
    """Raises Forbidden `enterprise_required` in Core."""
    if current_edition() is not Edition.ENTERPRISE:
        raise Forbidden("This needs the Enterprise edition; set OMNIA_ENTERPRISE=1.", code="enterprise_required")
