"""The words of a memory that its vector stands for."""

from __future__ import annotations


def embedding_text(title: str | None, content: str) -> str:
    """The title above the body when there is one: a title often names what the body only refers to."""
    return f"{title}\n{content}" if title else content
