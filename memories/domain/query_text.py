"""What of a query the text leg looks for."""

from __future__ import annotations

from collections.abc import Iterable

from omnia.core.errors import BadInput, FieldProblem

LONGEST_QUERY = 16_384
TEXT_TERMS = 12
"""The text leg weighs this many words; a longer question is cut to its longest words, which are the rarer ones."""


def require_query(text: str, *, pointer: str = "/query") -> str:
    """The trimmed query. Raises BadInput `query_too_long` above 16,384 characters."""
    if len(text) > LONGEST_QUERY:
        detail = f"a query may have at most {LONGEST_QUERY} characters"
        raise BadInput(detail, code="query_too_long", errors=[FieldProblem(pointer, "query_too_long", detail)])
    return text.strip()


def text_terms(lexemes: Iterable[str]) -> list[str]:
    """At most `TEXT_TERMS` lexemes, each quoted as a `tsquery` of its own."""
    chosen = sorted(set(lexemes), key=lambda word: (-len(word), word))[:TEXT_TERMS]
    return [quoted(word) for word in sorted(chosen)]


def quoted(lexeme: str) -> str:
    """A lexeme as a literal in `tsquery` syntax."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
