"""A text as clauses of plain words, for the rules that compare what two texts say.

English function words are known, so that articles and auxiliaries make no difference; in any other language
every word counts.
"""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc`", "'"))
_SPACES = re.compile(r"[^\S\n]+")
_CONTRACTED = re.compile(r"\b(ca|wo|sha|[a-z]+)n't\b")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[.;:!?()\[\]\n,]")
_ENDING = re.compile(r"(?:ing|ed)$")

_FUNCTION_WORDS = """
a an the this that these those is are was were be been being am do does did done has have had having will would shall
should can could may might must let get gets got of in on at as for with it its their his her my our your he she they
we you i user users now then so very really quite too just also still yet any some such ever longer anymore currently
always
"""
"""What a paraphrase adds and leaves out without saying anything else."""

JOINT = "&"
"""Stands for a comma, "and" and "or": what joins the items of a list."""
_JOINTS = frozenset({"and", "or", ","})


def folded(text: str) -> str:
    """One spelling of the same letters: compatibility forms, case, apostrophes and spaces."""
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES))


def clauses(text: str) -> list[list[str]]:
    """The stemmed words of a folded text, a list a clause; a comma or a conjunction is `JOINT`."""
    found: list[list[str]] = [[]]
    for word in _WORD.findall(_CONTRACTED.sub(_expanded, text)):
        if word in _JOINTS:
            _join(found[-1])
        elif word[0].isalnum():
            found[-1].append(stem(word))
        else:
            found.append([])
    return [clause for clause in found if clause]


def says_nothing(word: str) -> bool:
    """Whether a stemmed word is a function word."""
    return word in _FUNCTION_STEMS


def stem(word: str) -> str:
    """A word without its inflection: `likes`, `liked` and `like` are one."""
    base = word.removesuffix("'s").removesuffix("'")
    if len(base) > 3 and base.endswith("s") and not base.endswith("ss"):
        base = base[:-1]
    cut = _ENDING.sub("", base)
    base = cut if len(cut) > 2 else base
    return base[:-1] if len(base) > 3 and base.endswith("e") else base


def _join(clause: list[str]) -> None:
    if clause and clause[-1] != JOINT:
        clause.append(JOINT)


def _expanded(match: re.Match[str]) -> str:
    return f"{_WHOLE.get(match[1], match[1])} not"


_WHOLE = {"ca": "can", "wo": "will", "sha": "shall"}

_FUNCTION_STEMS = frozenset(stem(word) for word in _FUNCTION_WORDS.split())
