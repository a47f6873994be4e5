"""Texts for where no conversations are at hand: plain sentences of a few hundred everyday words.

They need to be distinct, of a chat turn's length, and to share words the way people's notes do. What they
say does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

_WORDS = """
who: I we she he they Ana Ben Chloe David Emre Farah Goran Hana Ivan Jun Kofi Lena Mara Nils Olga
did: bought sold painted repaired planned visited missed enjoyed forgot found cooked tasted watched finished started
did: borrowed returned promised cancelled moved cleaned photographed recommended learned taught ordered packed
how: big small old new red blue cheap quiet broken favourite wooden local foreign strange lovely heavy spare
what: bicycle kitchen garden concert recipe train ticket guitar painting sofa camera marathon novel dentist passport
what: puppy kayak sweater laptop lamp museum bakery invoice meeting apartment vaccine piano tent bridge lake violin
what: pottery scarf notebook charger tea coffee curry salad birthday anniversary exam course degree award shelter
where: in near behind outside around
place: Lisbon Oslo Porto Gdansk Lyon Bergen Ghent Turin Leeds Graz Vilnius Malmo Aarhus Split Cork Basel Nantes
place: the-library the-office the-station the-harbour the-market the-school the-clinic the-park the-gym the-workshop
when: yesterday today last-week last-month in-spring in-autumn on-Monday on-Friday at-noon before-work after-school
when: two-years-ago this-morning every-Sunday during-the-holidays
why: because so-that although while until since
"""
"""One kind of word a line; a dash stands for a space."""

_PATTERNS = ("who did a how what where place when", "why who did the what")
"""A sentence and the clauses that may follow; a word of no kind stands for itself."""


def sentences(count: int) -> list[str]:
    """`count` different texts, the same ones every time."""
    found: dict[str, None] = {}
    endless = _endless(Random(20))
    while len(found) < count:
        found[next(endless)] = None
    return list(found)


def _endless(random: Random) -> Iterator[str]:
    words: dict[str, list[str]] = {}
    for line in _WORDS.strip().splitlines():
        kind, _, rest = line.partition(": ")
        words.setdefault(kind, []).extend(rest.split())
    sentence, clause = _PATTERNS
    while True:
        pattern = " ".join((sentence, *[clause] * random.randrange(3)))
        text = " ".join(random.choice(words.get(kind, [kind])) for kind in pattern.split())
        yield text.replace("-", " ") + "."
