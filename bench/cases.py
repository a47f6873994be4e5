"""What is asked of both sides: scopes, questions and texts to save, with all a client may know beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from bench.rows import Vectors


@dataclass(frozen=True, slots=True)
class Scope:
    """A user with an agent, and how many rows the institution has beside them."""

    workspace: UUID
    user: str
    agent: str
    shared: int
    own: int


@dataclass(frozen=True, slots=True)
class Question:
    """One recall, with all that a client could know beforehand."""

    scope: Scope
    text: str
    vector: Vectors
    words: str
    rare: str


@dataclass(frozen=True, slots=True)
class Saved:
    """One save of a text that is new, with its vector."""

    scope: Scope
    title: str
    content: str
    vector: Vectors
