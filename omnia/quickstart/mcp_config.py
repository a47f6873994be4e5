"""How an MCP client is told of this installation: `.omnia/mcp.json`, in the form that clients read.

It holds a token, so it is private; the panel prints it too.
"""

from __future__ import annotations

import json

MCP_CONFIG = "mcp.json"
_SCOPE = {"X-Omnia-Workspace": "demo", "X-Omnia-User-ID": "customer-1"}
"""Whose memories the tools work on: the user of the panel's curl lines, until the reader names another."""


def mcp_config(token: str, *, url: str) -> str:
    """The file's text."""
    server = {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {token}", **_SCOPE}}
    return json.dumps({"mcpServers": {"omnia-memory": server}}, indent=2)
