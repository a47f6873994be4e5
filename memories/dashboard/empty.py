"""What an empty scope suggests: the command that saves its first memory (design: Memories)."""

from __future__ import annotations

import json
import shlex
from typing import Any

from omnia.core.scope import Scope

SOMEBODY = "user-1"
"""Whose memory the command saves where the scope is nobody's: the route saves for users."""


def first_save(scope: Scope, *, address: str) -> str:
    """A shell command that saves a memory of the scope's user. `address` is the server's, with its last slash."""
    named: dict[str, Any] = {"workspace_id": str(scope.workspace), "virtual_user_id": scope.user or SOMEBODY}
    if scope.user and scope.agent:
        named["agent_id"] = scope.agent
    body = {"scope": named, "type": "fact", "content": "Works from Lisbon in winter."}
    return " \\\n  ".join(
        [
            f"curl {shlex.quote(address + 'api/v1/memories')}",
            '-H "Authorization: Bearer $OMNIA_TOKEN"',
            '-H "Content-Type: application/json"',
            f"-d {shlex.quote(json.dumps(body, ensure_ascii=False, indent=2))}",
        ]
    )
