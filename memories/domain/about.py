"""`about{kind, key}`: the structured key under which a fact is kept up to date (reference: Entities)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from omnia.core.errors import BadInput, FieldProblem

LONGEST_KIND, LONGEST_KEY = 128, 512


@dataclass(frozen=True, slots=True)
class About:
    """A folded key: equal keys are equal text."""

    kind: str
    key: str

    @staticmethod
    def of(kind: str, key: str) -> About:
        """Folds both parts (NFC, trimmed, lower case). Raises BadInput `invalid_about`."""
        return About(_fold(kind, "kind", LONGEST_KIND), _fold(key, "key", LONGEST_KEY))


def folded(text: str) -> str:
    """A kind or key as it is stored and compared: NFC, trimmed, lower case."""
    return folded_prefix(text).rstrip()


def folded_prefix(text: str) -> str:
    """The beginning of a key, folded: white space at its end may stand inside the key."""
    return unicodedata.normalize("NFC", text).lstrip().lower()


def _fold(text: str, part: str, longest: int) -> str:
    key = folded(text)
    if all(unicodedata.category(char)[0] in "CZ" for char in key):
        raise _invalid(part, f"about.{part} must not be empty")
    if len(key) > longest:
        raise _invalid(part, f"about.{part} may have at most {longest} characters")
    if any(unicodedata.category(char) == "Cc" for char in key):
        raise _invalid(part, f"about.{part} must not hold control characters")
    return key


def _invalid(part: str, detail: str) -> BadInput:
    problem = FieldProblem(f"/about/{part}", "invalid_about", detail)
    return BadInput(detail, code="invalid_about", errors=[problem])
