"""Schedules as operators write them: cron's five fields, read in UTC.

A day matches when the day of the month or the day of the week does, if both are restricted, as cron has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?:(\*)|(\w+)(?:-(\w+))?)(?:/([0-9]{1,3}))?", re.ASCII)
_LONGEST_TEXT = 200
_FURTHEST_DAYS = 366 * 8 + 1
"""Between two 29ths of February lie eight years at most."""


@dataclass(frozen=True, slots=True)
class Cron:
    """When something is due, to the minute. Make it with `Cron.parse`."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool

    @staticmethod
    def parse(text: str) -> Cron:
        """Raises ValueError, saying why, for a text that is no schedule or one that never comes."""
        fields = text.split() if len(text) <= _LONGEST_TEXT else []
        if len(fields) != 5:
            raise ValueError("not a schedule of five fields such as 0 * * * *")
        minute, hour, day, month, weekday = fields
        cron = Cron(
            text=" ".join(fields),
            minutes=_values(minute, 0, 59),
            hours=_values(hour, 0, 23),
            days=_values(day, 1, 31),
            months=_values(month, 1, 12, names=_MONTHS),
            weekdays=frozenset(each % 7 for each in _values(weekday, 0, 7, names=_WEEKDAYS)),
            either_day=not (day.startswith("*") or weekday.startswith("*")),
        )
        if not any(map(cron._on, _days(date(2000, 1, 1), 1))):
            raise ValueError("a day that no calendar has")
        return cron

    def latest(self, now: datetime) -> datetime:
        """The last time it was due, `now` included; aware, in UTC."""
        now = now.astimezone(UTC)
        return next(at for day in _days(now.date(), -1) for at in reversed(self._times(day)) if at <= now)

    def following(self, after: datetime) -> datetime:
        """The first time it is due later than `after`; aware, in UTC."""
        after = after.astimezone(UTC)
        return next(at for day in _days(after.date(), 1) for at in self._times(day) if at > after)

    def _times(self, day: date) -> list[datetime]:
        if not self._on(day):
            return []
        times = [time(hour, minute, tzinfo=UTC) for hour in sorted(self.hours) for minute in sorted(self.minutes)]
        return [datetime.combine(day, at) for at in times]

    def _on(self, day: date) -> bool:
        matches = (day.day in self.days, day.isoweekday() % 7 in self.weekdays)
        return day.month in self.months and (any if self.either_day else all)(matches)


def _days(first: date, step: int) -> Iterator[date]:
    return (first + timedelta(days=step * number) for number in range(_FURTHEST_DAYS))


def _values(field: str, low: int, high: int, *, names: tuple[str, ...] = ()) -> frozenset[int]:
    """The numbers a field such as `*/15` or `mon-fri` or `1,15` stands for."""
    known = {name: low + number for number, name in enumerate(names)}
    values = set[int]()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"{field!r} is no field of a schedule")
        every, first, last, step = match.groups()
        start = low if every else _number(first, known)
        end = _number(last, known) if last else high if every or step else start
        if not low <= start <= end <= high or (step and int(step) == 0):
            raise ValueError(f"{field!r} lies outside {low} to {high}")
        values.update(range(start, end + 1, int(step or 1)))
    return frozenset(values)


def _number(word: str, known: dict[str, int]) -> int:
    if word.isdecimal() and len(word) <= 2:
        return int(word)
    try:
        return known[word.lower()]
    except KeyError:
        raise ValueError(f"{word!r} is no number or name here") from None
