"""What an empty scope suggests: the command that saves its first memory (design: Memories)."""

from __future__ import annotations

import json
import shlex
from typing import Any

from omnia.core.scope import Scope

_EXAMPLE = "Prefers a short summary on Friday afternoons."


def first_save(scope: Scope, *, address: str) -> str:
    """A shell command that saves a memory to `scope`. `address` is the server's, with its last slash."""
    body: dict[str, Any] = {
        "scope": {"workspace_id": str(scope.workspace)},
        "type": "fact",
        "content": _EXAMPLE if scope.user else "The office is closed on 24 December.",
    }
    if scope.user:
        body["scope"]["virtual_user_id"] = scope.user
    if scope.agent:
        body["scope"]["agent_id"] = scope.agent
    return " \\\n  ".join(
        [
            f"curl {shlex.quote(address + 'api/v1/memories')}",
            '-H "Authorization: Bearer $OMNIA_TOKEN"',
            '-H "Content-Type: application/json"',
            f"-d {shlex.quote(json.dumps(body, ensure_ascii=False, indent=2))}",
        ]
    )
