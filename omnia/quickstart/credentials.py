"""The demo's users, passwords and tokens: random for each installation, kept in one private file.

The file is for people and for scripts (`.omnia/quickstart.json`, mode 600). A later start keeps what
it holds, so a password written down stays true.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from omnia.embedded.running import read_text, write_private


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

    def write(self, path: Path, *, url: str) -> None:
        """Replaces the file in one step: a reader finds the old or the new one, never half."""
        document = {
            "url": url,
            "mcp_url": f"{url}/mcp",
            "docs_url": f"{url}/docs",
            "workspaces": [asdict(workspace) for workspace in self.workspaces],
            "users": [asdict(user) for user in self.users],
            "tokens": dict(self.tokens),
        }
        fresh = path.with_name(f"{path.name}.new")
        write_private(fresh, json.dumps(document, indent=2) + "\n")
        fresh.replace(path)
