"""What counts as a body: something a person could read, within the policy's size (spec: write)."""

from __future__ import annotations

import unicodedata

from omnia.core.errors import BadInput, FieldProblem

_SILENT = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that print nothing: Hangul fillers and the empty Braille pattern."""


def require_body(content: str, *, max_bytes: int) -> None:
    """Raises BadInput for a body that says nothing (`content_empty`) or too much (`body_too_large`)."""
    if not says_something(content):
        raise _invalid("content_empty", "content must hold at least one letter, digit or symbol")
    size = len(content.encode())
    if size > max_bytes:
        raise _invalid(
            "body_too_large",
            f"content has {size} bytes and the policy allows {max_bytes}; store it elsewhere and save a reference",
        )


def says_something(text: str) -> bool:
    """Whether anything but space, controls, zero-width characters and punctuation is there."""
    kinds = {unicodedata.category(char) for char in set(text) - _BLANK} - _SILENT
    return any(not kind.startswith(("P", "M")) for kind in kinds)


def _invalid(code: str, detail: str) -> BadInput:
    return BadInput(detail, code=code, errors=[FieldProblem("/content", code, detail)])
