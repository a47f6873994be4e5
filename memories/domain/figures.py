"""The figures of a text: numbers and dates, whether in digits or in words.

`2,000` and `two thousand`, `3pm` and `15:00`, `15 October` and `Oct 15th` are each one figure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_MONTHS = ("jan(?:uary)?", "feb(?:ruary)?", "mar(?:ch)?", "apr(?:il)?", "may", "june?", "july?", "aug(?:ust)?",
           "sept?(?:ember)?", "oct(?:ober)?", "nov(?:ember)?", "dec(?:ember)?")  # fmt: skip
_MONTH = f"(?P<month>{'|'.join(_MONTHS)})"
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?:,?\s(?P<year>\d{4})\b)?"
_DATES = (
    re.compile(r"(?<![\w.])(?P<year>\d{4})-(?P<one>\d{1,2})-(?P<other>\d{1,2})(?!\d)"),
    re.compile(r"(?<![\w.])(?P<one>\d{1,2})([./-])(?P<other>\d{1,2})\2(?P<year>\d{4}|\d{2})(?![\w])"),
    re.compile(rf"\b{_DAY}\s(?:of\s)?{_MONTH}\b\.?{_YEAR}"),
    re.compile(rf"\b{_MONTH}\.?\s(?:the\s)?{_DAY}\b(?!:)(?!\s?[ap]\.?m\b){_YEAR}"),
)
_LONE = {
    "weekday": re.compile(r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b"),
    "month": re.compile(
        r"\b(jan|feb|apr|jun|jul|aug|sep|oct|nov|dec)(?:uary|ruary|il|e|y|ust|tember|ober|ember)\b"
        r"|\b(?:in|since|until|by|last|next)\s(march|may)\b"
    ),
    "day named": re.compile(r"\b(today|tomorrow|yesterday)\b"),
}
"""May and March are words of their own as well, and need a word that says they are months."""

_TIME = re.compile(r"\b(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s?([ap])\.?m\b\.?|\b(\d{1,2}):(\d{2})(?::\d{2})?\b")
_DIGITS = re.compile(r"(?P<digits>\d+(?:[.,]\d+)*)(?:\s?(?P<scale>k|thousand|million|billion)\b)?")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_SPELLED = re.compile(r"[^\W\d_]+")

_SMALL = {
    word: value
    for words, first, step in (
        ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
         " seventeen eighteen nineteen", 0, 1),
        ("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10),
        ("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 1, 1),
        ("once twice thrice", 1, 1),
    )
    for value, word in enumerate(words.split())
    for value in [first + step * value]
}  # fmt: skip
_SCALES = {"k": 1000, "dozen": 12, "thousand": 1000, "million": 10**6, "billion": 10**9}


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one text by what they measure, each with whether it stands there in digits."""

    stated: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)

    def differ(self, other: Figures, *, measure: str) -> bool:
        """Whether the two state different figures: what stands in digits must stand in both texts.

        A word only must not be contradicted: a paraphrase may leave out "one" or "Monday", not replace it.
        """
        mine, theirs = self.stated.get(measure, {}), other.stated.get(measure, {})
        only_mine, only_theirs = mine.keys() - theirs.keys(), theirs.keys() - mine.keys()
        if only_mine and only_theirs:
            return True
        return any(mine[value] for value in only_mine) or any(theirs[value] for value in only_theirs)


NUMBER = "number"
DATES = ("day", "year", *_LONE)
"""The measures that make a date; the year of a date counts only against another year."""


def figures(text: str) -> Figures:
    """The figures of a folded text."""
    stated: dict[str, dict[str, bool]] = defaultdict(dict)
    rest = text
    for pattern in _DATES:
        rest = pattern.sub(lambda match: _take_date(match, stated), rest)
    for measure, pattern in _LONE.items():
        stated[measure].update((match[match.lastindex or 0][:3], False) for match in pattern.finditer(rest))
    rest = _TIME.sub(lambda match: _take_time(match, stated[NUMBER]), rest)
    rest = _DIGITS.sub(lambda match: _take_number(match, stated[NUMBER]), rest)
    for value in _spelled(_SPELLED.findall(rest)):
        stated[NUMBER].setdefault(str(value), False)
    return Figures(stated)


def _take_date(match: re.Match[str], stated: dict[str, dict[str, bool]]) -> str:
    """Notes a date and leaves a gap; what cannot be one stays as it is."""
    parts = match.groupdict()
    month = parts.get("month")
    one, other = (_number_of(month), int(parts["day"])) if month else (int(parts["one"]), int(parts["other"]))
    low, high = sorted((one, other))
    if not (1 <= low <= 12 and high <= 31):
        return match[0]
    # Day and month in order of size: what 5/10 means is not told, so 10/5 is not told from it.
    stated["day"][f"{low}-{high}"] = True
    if month:
        stated["month"][month[:3]] = False
    if parts.get("year"):
        stated["year"][parts["year"][-2:]] = False
    return " "


def _number_of(month: str) -> int:
    return next(number for number, pattern in enumerate(_MONTHS, 1) if re.fullmatch(pattern, month))


def _take_time(match: re.Match[str], numbers: dict[str, bool]) -> str:
    hour, minute = int(match[1] or match[4]), match[2] or match[5] or "00"
    if match[3]:
        hour = hour % 12 + (12 if match[3] == "p" else 0)
    numbers[str(hour) if minute == "00" else f"{hour}:{minute}"] = True
    return " "


def _take_number(match: re.Match[str], numbers: dict[str, bool]) -> str:
    digits = _THOUSANDS.sub("", match["digits"]).replace(",", ".")
    whole, _, fraction = digits.partition(".")
    if not fraction.strip("0"):
        digits = whole.lstrip("0") or "0"
    if match["scale"] and len(digits) < 16 and digits.count(".") < 2:
        digits = f"{float(digits) * _SCALES[match['scale']]:.0f}"
    numbers[digits] = True
    return " "


def _spelled(words: list[str]) -> Iterator[int]:
    """The numbers a list of words spells: `two hundred and five` is one, `two three` are two."""
    total = group = 0
    within = False
    for word in [*words, ""]:
        if word == "and" and within and not group % 100:
            continue
        if word in _SMALL:
            small = _SMALL[word]
            if within and not _extends(group, small):
                yield total + group
                total = group = 0
            group, within = group + small, True
        elif word == "hundred" and group < 100:
            group, within = (group or 1) * 100, True
        elif word in _SCALES and word != "k":
            total, group, within = total + (group or 1) * _SCALES[word], 0, True
        elif within:
            yield total + group
            total, group, within = 0, 0, False


def _extends(group: int, small: int) -> bool:
    """Whether `small` goes on with the number so far: `twenty five`, `two hundred twelve`."""
    last = group % 100
    return last == 0 if small >= 10 else last == 0 or (last >= 20 and last % 10 == 0)
