"""What a text affirms and what it denies, word by word, and whether another text says the opposite."""

from __future__ import annotations

from collections.abc import Iterator

from memories.domain.lexis import JOINT, says_nothing, stem

_DENIALS = """
not no never none neither nor without cannot nobody nothing hardly
"""
_NEGATIONS = frozenset(stem(word) for word in _DENIALS.split())
_TABLE = """
dark light / open closed / short long / happy sad / love hate / like hate / hot cold / early late / before after
more less / high low / up down / left right / allow forbid / accept reject / accept refuse / approve reject
enable disable / include exclude / start stop / start end / begin end / win lose / pass fail / true false
male female / mother father / son daughter / brother sister / husband wife / fast slow / big small / large small
good bad / cheap expensive / public private / married single / married divorced / full empty / hard soft / easy hard
easy difficult / increase decrease / buy sell / borrow lend / import export / upload download / arrive leave
arrive depart / enter exit / inside outside / internal external / minimum maximum / first last / morning evening
day night / summer winter / north south / east west / over under / above below / above under / over below
same different / alive dead / rich poor / young old / new old / thin thick / strong weak / hire fire
"""
_PREFIXES = ("un", "dis", "non")


def _opposites() -> dict[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for pair in _TABLE.replace("\n", " / ").split(" / "):
        if pair:
            one, other = (stem(word) for word in pair.split())
            table[one] = table.get(one, frozenset()) | {other}
            table[other] = table.get(other, frozenset()) | {one}
    return table


_OPPOSITES = _opposites()

Polarity = dict[str, bool]
"""Each word that says something, with whether it is affirmed; one that is both affirmed and denied is left out."""


def polarity(clauses: list[list[str]]) -> Polarity:
    """What each content word of a text's clauses stands for."""
    found: Polarity = {}
    torn: set[str] = set()
    for clause in clauses:
        for word, affirmed in _read(clause):
            if found.setdefault(word, affirmed) != affirmed:
                torn.add(word)
    return {word: affirmed for word, affirmed in found.items() if word not in torn}


def opposed(one: Polarity, other: Polarity) -> bool:
    """Whether one text denies what the other affirms, or affirms its opposite; doing both is agreeing."""
    denied = any(one[word] != other[word] for word in one.keys() & other.keys())
    reversed_ = any(
        one[word] == other[opposite]
        for word in one.keys() - other.keys()
        for opposite in _opposites_of(word, other)
        if opposite not in one
    )
    return denied != reversed_


def _read(clause: list[str]) -> Iterator[tuple[str, bool]]:
    """The content words of a clause; a negation reaches the next one, else the one before it."""
    denies, last = False, ""
    for word in clause:
        if word in _NEGATIONS:
            denies = not denies
        elif word != JOINT and not says_nothing(word):
            if last:
                yield last, True
            last = "" if denies else word
            if denies:
                yield word, False
            denies = False
    if last:
        yield last, not denies


def _opposites_of(word: str, other: Polarity) -> Iterator[str]:
    candidates = set(_OPPOSITES.get(word, ()))
    for prefix in _PREFIXES:
        candidates.add(prefix + word)
        if word.startswith(prefix) and len(word) > len(prefix) + 2:
            candidates.add(word.removeprefix(prefix))
    yield from candidates & other.keys()
