"""The embedded PostgreSQL and Redis (filled in below)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Running:
    """Where the embedded servers of one folder answer; empty strings when none run."""

    database_url: str = ""
    redis_url: str = ""
    secret_key: str = ""


def discover(folder: Path) -> Running:
    return Running()
