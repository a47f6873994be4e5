"""Tokens in the form of the cluster's, for the fake server to judge."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

AUDIENCE = "memory"
ACCOUNT = "system:serviceaccount:agents:facade"


def token(*, audience: Any = AUDIENCE, lives: float = 600, number: int = 0) -> str:
    """A JWT that nobody signed."""
    claims = {"aud": audience, "exp": int(time.time() + lives), "jti": number}
    parts = ({"alg": "none"}, claims)
    return ".".join(
        [*(base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in parts), "s"]
    )


def good(username: str = ACCOUNT, *, audiences: tuple[str, ...] = (AUDIENCE,)) -> dict[str, Any]:
    """What the API server says of a token it takes."""
    return {"authenticated": True, "user": {"username": username}, "audiences": list(audiences)}
