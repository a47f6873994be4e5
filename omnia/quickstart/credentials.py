"""The demo's users, passwords and tokens: random for each installation, kept in one private file.

The file is for people and for scripts (`.omnia/quickstart.json`, mode 600). A later start keeps what
it holds, so a password written down stays true.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from omnia.embedded.running import read_text, replace_private


@dataclass(frozen=True, slots=True)
class DemoUser:
    username: str
    password: str
    role: str


@dataclass(frozen=True, slots=True)
class DemoWorkspace:
    uid: str
    name: str


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a newcomer needs. `tokens` is by name: admin, owner, viewer."""

    workspaces: tuple[DemoWorkspace, ...] = ()
    users: tuple[DemoUser, ...] = ()
    tokens: tuple[tuple[str, str], ...] = ()

    def password(self, username: str) -> str | None:
        return next((user.password for user in self.users if user.username == username), None)

    def token(self, name: str) -> str | None:
        return dict(self.tokens).get(name)

    @staticmethod
    def read(path: Path) -> Credentials:
        """What the file holds; nothing when it is missing or damaged."""
        try:
            kept = json.loads(read_text(path) or "{}")
            return Credentials(
                workspaces=tuple(DemoWorkspace(**entry) for entry in kept.get("workspaces", [])),
                users=tuple(DemoUser(**entry) for entry in kept.get("users", [])),
                tokens=tuple(kept.get("tokens", {}).items()),
            )
        except (ValueError, TypeError, AttributeError):
            return Credentials()

    def write(self, path: Path, *, url: str, mcp_url: str) -> None:
        """Replaces the file, with where the servers answer."""
        document = {
            "url": url,
            "mcp_url": mcp_url,
            "docs_url": f"{url}/docs",
            "workspaces": [asdict(workspace) for workspace in self.workspaces],
            "users": [asdict(user) for user in self.users],
            "tokens": dict(self.tokens),
        }
        replace_private(path, json.dumps(document, indent=2) + "\n")
