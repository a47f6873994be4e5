"""A query string read strictly: a parameter is what it should be, or the caller learns which was not.

A name given twice is refused rather than guessed at (security case 225): two layers that pick
different values disagree about whose memory is meant.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from uuid import UUID

from django.http import QueryDict

from omnia.api.moments import EXPECTED, parse_moment
from omnia.core.errors import BadInput, FieldProblem

_INTEGER = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")
_UUID = re.compile(r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}
_LONGEST = 4096


def refuse(name: str, detail: str) -> BadInput:
    """The error for parameter `name`; raise it."""
    return BadInput(
        f"query parameter {name}: {detail}",
        code="invalid_parameter",
        errors=[FieldProblem(f"/{name}", "invalid_parameter", detail)],
    )


class Query:
    """The parameters of one request. Every method raises BadInput (`invalid_parameter`).

    The empty string means "not given" (design: Scope).
    """

    __slots__ = ("_given",)

    def __init__(self, given: QueryDict) -> None:
        self._given = given

    def __bool__(self) -> bool:
        """Whether any parameter is given."""
        return bool(self._given)

    def only(self, *names: str) -> None:
        """Refuses a parameter that is none of `names`: a filter ignored in silence would widen the answer."""
        for name in self._given:
            if name not in names:
                raise BadInput(
                    f"query parameter {name[:100]}: this address knows no such parameter",
                    code="unknown_parameter",
                    errors=[FieldProblem(f"/{name[:100]}", "unknown_parameter", f"known are {', '.join(names)}")],
                )

    def text(self, name: str, *, max_length: int = 253) -> str | None:
        """The text, unchanged; None when not given. White space alone is refused."""
        text = self._one(name, max_length)
        if text is not None and not text.strip():
            raise refuse(name, "white space alone is no value; leave the parameter out")
        return text

    def integer(self, name: str, *, default: int, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        text = self._one(name)
        if text is None:
            return default
        if not _INTEGER.fullmatch(text) or not low <= int(text) <= high:
            raise refuse(name, f"a whole number from {low} to {high} is expected")
        return int(text)

    def number(self, name: str, *, low: float, high: float) -> float | None:
        """A decimal number from `low` to `high`; None when not given."""
        text = self._one(name)
        if text is None:
            return None
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not low <= value <= high:
            raise refuse(name, f"a number from {low:g} to {high:g} is expected")
        return value

    def flag(self, name: str) -> bool:
        """Whether the flag is set; false when not given."""
        text = self._one(name)
        if text is None:
            return False
        if text.lower() not in _FLAGS:
            raise refuse(name, "true or false is expected")
        return _FLAGS[text.lower()]

    def words(self, name: str) -> tuple[str, ...]:
        """The words of a list, given as `a,b` or by repeating the parameter; each word once."""
        values = [self._clean(name, value, _LONGEST) for value in self._given.getlist(name)]
        words = (word.strip() for value in values for word in value.split(","))
        return tuple(dict.fromkeys(word for word in words if word))

    def uuid(self, name: str) -> UUID | None:
        """An id; None when not given."""
        text = self._one(name)
        if text is None:
            return None
        if not _UUID.fullmatch(text):
            raise refuse(name, "a UUID is expected")
        return UUID(text)

    def moment(self, name: str) -> datetime | None:
        """A moment in UTC; None when not given."""
        text = self._one(name)
        if text is None:
            return None
        try:
            return parse_moment(text)
        except ValueError:
            raise refuse(name, f"{EXPECTED} (a + is written %2B)") from None

    def _one(self, name: str, max_length: int = _LONGEST) -> str | None:
        values = self._given.getlist(name)
        if not values:
            return None
        if len(values) > 1:
            raise refuse(name, "given more than once")
        return self._clean(name, values[0], max_length) or None

    @staticmethod
    def _clean(name: str, value: str, max_length: int) -> str:
        if "\x00" in value:
            raise refuse(name, "a NUL character is not allowed")
        if len(value) > max_length:
            raise refuse(name, f"longer than {max_length} characters")
        return value
