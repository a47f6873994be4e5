"""The one panel `make run` prints: where to look, who to be, what to paste."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TextIO

from omnia.quickstart.address import Addresses
from omnia.quickstart.credentials import Credentials
from omnia.quickstart.mcp_config import mcp_config

_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def wants_colour(stream: TextIO, env: Mapping[str, str]) -> bool:
    """On a terminal, unless NO_COLOR is set to anything (no-color.org) or the terminal is dumb."""
    return stream.isatty() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"


def render(credentials: Credentials, *, addresses: Addresses, colour: bool) -> str:
    """The panel's text; the curl lines and the MCP client's configuration in it work as they stand."""
    bold, dim, plain = (_BOLD, _DIM, _PLAIN) if colour else ("", "", "")
    owner, url = credentials.token("owner") or "", addresses.web.url
    places = {"Dashboard": f"{url}/", "API": f"{url}/api/v1", "API docs": f"{url}/docs", "MCP": addresses.mcp_url}
    lines = ["", f"{bold}Omnia Memory is running.{plain} {dim}Ctrl+C stops it.{plain}", ""]
    lines += [f"  {name:<12}{place}" for name, place in places.items()]
    lines += ["", f"{bold}Sign in{plain}"]
    lines += [f"  {user.username:<12}{user.password:<20}{dim}{user.role}{plain}" for user in credentials.users]
    lines += ["", f"{bold}API token{plain} {dim}(owner of the workspace demo){plain}", f"  {owner}"]
    lines += ["", f"{bold}Save a memory{plain}", _curl(url, "memories", owner, _SAVE)]
    lines += ["", f"{bold}Recall it{plain}", _curl(url, "memories/retrieve", owner, _RECALL)]
    lines += ["", f"{bold}Connect an MCP client{plain} {dim}(this is .omnia/mcp.json){plain}"]
    lines += [mcp_config(owner, url=addresses.mcp_url)]
    lines += ["", f"{dim}All of this is in .omnia/quickstart.json, the logs are in .omnia/logs/{plain}", ""]
    return "\n".join(lines)


_SAVE = {
    "scope": {"workspace_id": "demo", "virtual_user_id": "customer-1"},
    "type": "preference",
    "content": "Likes parcels wrapped in paper, not in plastic.",
}
_RECALL = {"workspace_id": "demo", "user_id": "customer-1", "query": "How should the parcel be wrapped?"}


def _curl(url: str, route: str, token: str, body: Mapping[str, object]) -> str:
    headers = f"-H 'Authorization: Bearer {token}' -H 'Content-Type: application/json'"
    return f"curl -sS {url}/api/v1/{route} {headers} -d '{json.dumps(body)}'"
