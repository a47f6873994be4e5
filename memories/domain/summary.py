"""The extractive summary of a document: its first sentences, as they stand (spec: ingestion.summarizer).

Nothing is composed: the summary is a piece of the text, so it says nothing the document does not say.
"""

from __future__ import annotations

import re

MOST_SENTENCES = 3
MOST_BYTES = 600

_SENTENCE_END = re.compile(r"""[.!?…]+["'”’»)\]]*(?=\s|\Z)|[\u3002\uff01\uff1f]+[\u300d\u300f”’\uff09]*""")
"""Chinese and Japanese sentences end without a space."""
_SPACE = re.compile(r"\s")


def extractive_summary(text: str) -> str:
    """The text up to its third sentence end, or as far as 600 bytes of UTF-8 reach; empty for a blank text.

    Where the bytes run out, it ends with a sentence if that keeps half of them, else with a word.
    """
    first = _first_letter(text)
    lead = text[first : first + MOST_BYTES + 2].rstrip()
    fitting = lead.encode()[:MOST_BYTES].decode(errors="ignore")
    ends = [match.end() for match in _SENTENCE_END.finditer(lead) if match.end() <= len(fitting)]
    if len(ends) >= MOST_SENTENCES:
        return lead[: ends[MOST_SENTENCES - 1]]
    return lead if fitting == lead else fitting[: _boundary(fitting, lead, ends)].rstrip()


def _boundary(fitting: str, lead: str, ends: list[int]) -> int:
    """Where to cut: behind the last sentence or word that fits, and through a word only when it is the first."""
    if ends and len(fitting[: ends[-1]].encode()) * 2 >= MOST_BYTES:
        return ends[-1]
    words = [match.start() for match in _SPACE.finditer(lead, 0, len(fitting) + 1)]
    return words[-1] if words else len(fitting)


def _first_letter(text: str) -> int:
    found = re.search(r"\S", text)
    return found.start() if found else len(text)
