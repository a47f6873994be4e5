"""The consents taken back, one row a user and category."""

from __future__ import annotations

from datetime import datetime

from omnia.core.scope import Scope
from omnia.db import execute, fetch_dicts

_NOTE = """
INSERT INTO memories_revocation (workspace_id, user_id, category) VALUES (%(workspace)s, %(user)s, %(category)s)
ON CONFLICT ON CONSTRAINT revocation_once DO UPDATE SET revoked_at = statement_timestamp()
"""
_FIND = """
SELECT revoked_at FROM memories_revocation
WHERE workspace_id = %(workspace)s AND user_id = %(user)s AND category = %(category)s
"""


def note(category: str, *, scope: Scope) -> None:
    """The user of `scope` takes the category back, now by the database clock."""
    execute(_NOTE, _parameters(category, scope))


def revoked_at(category: str, *, scope: Scope) -> datetime | None:
    rows = fetch_dicts(_FIND, _parameters(category, scope))
    return rows[0]["revoked_at"] if rows else None


def _parameters(category: str, scope: Scope) -> dict[str, object]:
    return {"workspace": scope.workspace, "user": scope.user, "category": category}
