"""What a typed value means, said back: 180d is about 6 months, a moment is so long ago."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from omnia.api.moments import parse_moment
from omnia.core.duration import parse_duration
from policies.dashboard.fields import Field, Kind
from policies.dashboard.moments import seen_from

_UNITS = (
    ("year", 365.2425 * 86_400),
    ("month", 30.436875 * 86_400),
    ("week", 7 * 86_400),
    ("day", 86_400),
    ("hour", 3_600),
    ("minute", 60),
)
_NEAR = 0.03
"""A unit reads well when a whole number of it is at most this far off."""


def span_in_words(span: timedelta) -> str:
    """A span in the largest unit that fits, with ≈ when it does not fit exactly."""
    seconds = int(span.total_seconds())
    for unit, size in _UNITS:
        amount = round(seconds / size)
        if amount and abs(amount * size - seconds) <= _NEAR * seconds:
            about = "" if amount * size == seconds else "≈ "
            return f"{about}{_counted(amount, unit)}"
    return _counted(seconds, "second")


def read_back(field: Field, text: str, *, now: datetime) -> str:
    """The words for what stands in a field; empty when the text speaks for itself or cannot be read."""
    try:
        if field.kind is Kind.DURATION:
            span = parse_duration(text.strip())
            return "" if span is None else span_in_words(span)
        if field.kind is Kind.MOMENT and text.strip():
            return seen_from(now, parse_moment(text.strip())).distance
    except ValueError:
        pass
    return ""


def said(value: Any) -> str:
    """A value of a document in a sentence."""
    match value:
        case None:
            return "not set"
        case bool():
            return "on" if value else "off"
        case "" | {} | []:
            return "empty"
        case list() | dict():
            return f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"
    return str(value)


def _counted(amount: int, unit: str) -> str:
    return f"{amount} {unit}{'' if amount == 1 else 's'}"
