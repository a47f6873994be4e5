"""The LoCoMo conversations (Maharana et al., 2024), read from where the operator keeps them.

They are licensed CC BY-NC 4.0: for measuring only. They are read in place and never copied, and what is
measured on them is skipped where they are absent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
_ANSWERABLE = (1, 2, 3, 4)
"""Single-hop, temporal, open-domain and multi-hop; category 5 has no answer to find."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said; `said_at` is when its session took place."""

    id: str
    text: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the turns that hold its answer."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Two people over months."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def data_file() -> Path:
    """Where the conversations are: OMNIA_BENCH_DATA, else beside the project. It may not exist."""
    return Path(os.environ.get("OMNIA_BENCH_DATA") or _ROOT.parent / "shared/data/locomo-dev.json")


def conversations() -> list[Conversation]:
    """Every conversation; none where the file is absent."""
    file = data_file()
    if not file.exists():
        return []
    return [_conversation(each) for each in json.loads(file.read_text(encoding="utf-8"))]


def _conversation(raw: dict[str, Any]) -> Conversation:
    turns = tuple(_turns(raw["conversation"]))
    known = frozenset(turn.id for turn in turns)
    asked = [
        Question(each["question"], each["category"], known.intersection(each["evidence"]))
        for each in raw["qa"]
        if each["category"] in _ANSWERABLE
    ]
    return Conversation(raw["sample_id"], turns, tuple(each for each in asked if each.evidence))


def _turns(raw: dict[str, Any]) -> Iterator[Turn]:
    for name, session in raw.items():
        if isinstance(session, list):
            said_at = datetime.strptime(raw[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            for turn in session:
                yield Turn(turn["dia_id"], f"{turn['speaker']}: {turn['text']}", said_at)
