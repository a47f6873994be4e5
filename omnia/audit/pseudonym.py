"""What stands in the audit trail for a person or a text: stable, and no way back."""

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


def suppression_hash(subject: str) -> str:
    """64 hex digits for a person who was erased: enough to know them again, to whoever has the key."""
    key: str = settings.OMNIA.pseudonym_key or settings.SECRET_KEY
    return hmac.digest(key.encode(), b"suppressed\0" + subject.encode(), "sha256").hex()


def fingerprint(text: str) -> str:
    """16 hex digits for a text, which is more easily guessed than an id and so is never hashed without a key."""
    key: str = settings.OMNIA.pseudonym_key or settings.SECRET_KEY
    return hmac.digest(key.encode(), text.encode(), "sha256").hex()[:16]
