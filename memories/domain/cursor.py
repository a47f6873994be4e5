"""Where the next page begins: after a row, by the moment it last changed and its id."""

from __future__ import annotations

import base64
import binascii
import uuid
from dataclasses import dataclass
from datetime import datetime

from omnia.core.errors import BadInput


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last row of the page before."""

    updated_at: datetime
    id: uuid.UUID

    def encode(self) -> str:
        raw = f"{self.updated_at.isoformat()} {self.id.hex}"
        return base64.urlsafe_b64encode(raw.encode()).decode().rstrip("=")

    @staticmethod
    def decode(text: str) -> Cursor:
        """Raises BadInput `invalid_cursor` for anything `encode` did not make."""
        try:
            moment, _, ident = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().partition(" ")
            cursor = Cursor(datetime.fromisoformat(moment), uuid.UUID(hex=ident))
        except (ValueError, binascii.Error):
            cursor = None
        if cursor is None or cursor.updated_at.tzinfo is None or cursor.encode() != text:
            raise BadInput("the cursor is not one of ours; start again without it", code="invalid_cursor")
        return cursor
