"""Cursors: where the next page starts, opaque to the client and useless once changed.

The mark binds a cursor to its list, so that one list's position is never read as another's.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Sequence

import orjson
from django.conf import settings

from omnia.core.errors import BadInput

_MARK_BYTES = 12
_LONGEST = 1024


def encode_cursor(position: Sequence[str | int], *, purpose: str) -> str:
    """A cursor for `position` (the sort key of the last row) in the list named `purpose`."""
    payload = orjson.dumps(list(position))
    return base64.urlsafe_b64encode(_mark(payload, purpose) + payload).decode().rstrip("=")


def decode_cursor(cursor: str, *, purpose: str) -> list[str | int]:
    """The position a cursor of ours holds. Raises BadInput (`invalid_cursor`) for any other text."""
    try:
        packed = base64.b64decode(cursor[:_LONGEST] + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        packed = b""
    mark, payload = packed[:_MARK_BYTES], packed[_MARK_BYTES:]
    if not hmac.compare_digest(mark, _mark(payload, purpose)):
        raise BadInput("This cursor is none of this list's; start without one.", code="invalid_cursor")
    position: list[str | int] = orjson.loads(payload)
    return position


def _mark(payload: bytes, purpose: str) -> bytes:
    key = f"omnia.cursor\x00{purpose}\x00{settings.SECRET_KEY}".encode()
    return hmac.digest(key, payload, "sha256")[:_MARK_BYTES]
