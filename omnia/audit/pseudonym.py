"""The name a person has in the audit trail: stable, and no way back to the id."""

from __future__ import annotations

import hashlib
import hmac

from django.conf import settings


def pseudonym(subject: str) -> str:
    """16 hex digits for an id: SHA-256, keyed by OMNIA_PSEUDONYM_HMAC_KEY when one is set; "" for ""."""
    if not subject:
        return ""
    key: str = settings.OMNIA.pseudonym_key
    if key:
        return hmac.digest(key.encode(), subject.encode(), "sha256").hex()[:16]
    return hashlib.sha256(subject.encode()).hexdigest()[:16]
