"""Whether two texts that read alike say different things (design: Merge, conflicts).

Embeddings put "the deadline is the 15th" beside "the deadline is the 16th". A merge still happens, as the
spec says; what is told here is that something got replaced, so that nobody loses it unawares. Numbers, dates
and addresses are read in any language; number words, negations and opposites are English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memories.domain.figures import DATES, NUMBER, Figures, figures
from memories.domain.lexis import JOINT, clauses, folded, says_nothing
from memories.domain.polarity import Polarity, opposed, polarity

LONGEST_COMPARED = 16_384
"""Characters of a text that are read: a save compares several texts while others wait for its lock."""

_ADDRESS = re.compile(
    r"(?:https?://|www\.)[^\s<>\"')\]]+"
    r"|(?<![\w.+@-])(?:[\w.+-]++@)?(?:[\w-]++\.)+[a-z]{2,}(?![\w@])"
)
"""A link, an e-mail address or a host, from the beginning of a word, so that a long text is read once."""
_LONGEST_SWAP = 48


class Difference(StrEnum):
    """A way in which two texts can contradict each other."""

    NUMBER = "number"
    DATE = "date"
    URL = "url"
    NEGATION = "negation"
    ROLES = "roles"


def as_json(found: Sequence[str]) -> dict[str, Any]:
    """The differences as an answer tells them: all, and the first of them as its `kind`."""
    return {"kind": str(found[0]), "kinds": [str(each) for each in found]}


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a comparison looks at."""

    addresses: frozenset[str]
    figures: Figures
    polarity: Polarity
    order: list[str]


def differences(one: str, other: str) -> tuple[Difference, ...]:
    """How two texts contradict each other; empty when they do not, whichever of them comes first."""
    if one == other:
        return ()
    mine, theirs = _read(one), _read(other)
    found = {
        Difference.NUMBER: mine.figures.differ(theirs.figures, measure=NUMBER),
        Difference.DATE: any(mine.figures.differ(theirs.figures, measure=measure) for measure in DATES),
        Difference.URL: _addresses_differ(mine.addresses, theirs.addresses),
        Difference.NEGATION: opposed(mine.polarity, theirs.polarity),
        Difference.ROLES: _swapped(mine.order, theirs.order),
    }
    return tuple(difference for difference, differs in found.items() if differs)


def _read(text: str) -> _Reading:
    plain = folded(text[:LONGEST_COMPARED])
    said = clauses(_ADDRESS.sub(" ", plain))
    return _Reading(
        addresses=frozenset(_same_address(found) for found in _ADDRESS.findall(plain)),
        figures=figures(_ADDRESS.sub(" ", plain)),
        polarity=polarity(said),
        order=[word for clause in said for word in clause if not says_nothing(word)],
    )


def _same_address(address: str) -> str:
    bare = address.rstrip(".,;:!?/")
    return bare.removeprefix("https://").removeprefix("http://").removeprefix("www.")


def _addresses_differ(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Each has one that the other has not: a paraphrase may leave an address out, not replace it."""
    return bool(mine - theirs) and bool(theirs - mine)


def _swapped(mine: list[str], theirs: list[str]) -> bool:
    """Whether two parts of a sentence changed places around what relates them: "A reports to B".

    The items of a list, and phrases that moved as a whole ("on Fridays"), change places without saying more.
    """
    if mine == theirs or sorted(mine) != sorted(theirs):
        return False
    apart = [place for place, (one, other) in enumerate(zip(mine, theirs, strict=True)) if one != other]
    stretch = slice(apart[0], apart[-1] + 1)
    mine, theirs = mine[stretch], theirs[stretch]
    size = len(mine)
    return size <= _LONGEST_SWAP and any(
        _exchanged(mine, theirs, first, last) for first in range(1, size - 1) for last in range(1, size - first)
    )


def _exchanged(mine: list[str], theirs: list[str], first: int, last: int) -> bool:
    """Whether the `first` words and the `last` ones changed places around a relation that stayed."""
    relation = mine[first : len(mine) - last]
    return (
        JOINT not in (relation[0], relation[-1])
        and theirs[-first:] == mine[:first]
        and theirs[:last] == mine[-last:]
        and theirs[last : len(mine) - first] == relation
    )
