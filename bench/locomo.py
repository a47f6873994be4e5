"""How well recall finds what was said: LoCoMo through HTTP, with the embedder and without.

One turn is one memory, one conversation one user. A question counts as found when a memory that holds its
evidence is among the first k. A save may merge two turns that say the same; the evidence is then the
memory that stayed.

    python -m bench.locomo [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from bench.conversations import Conversation, Question, conversations, data_file
from bench.cost import Meter
from bench.installation import Installation, Web, installed
from bench.table import Table, conditions

WORKSPACE, LIMIT = "locomo", 10
TARGETS = {"local": 0.74, "none": 0.65}
"""hit@10 by embedding provider."""


@dataclass(slots=True)
class Run:
    """Equal requests, one after the other: wall seconds of each, CPU milliseconds of one."""

    meter: Meter
    seconds: list[float] = field(default_factory=list)

    def figures(self, name: str) -> dict[str, float]:
        cost = self.meter.lap(operations=len(self.seconds))
        return {
            f"{name} median ms": 1000 * statistics.median(self.seconds),
            f"{name} p95 ms": 1000 * statistics.quantiles(self.seconds, n=20)[-1],
            f"{name} wall s": sum(self.seconds),
            f"{name} CPU ms": cost.total,
            f"{name} CPU ms, database": cost.database,
        }


@dataclass(slots=True)
class Found:
    """How high the evidence of each question stood, by the question's category."""

    questions: list[tuple[Question, list[int], int]] = field(default_factory=list)

    def add(self, question: Question, evidence: set[str], answered: Sequence[str]) -> None:
        self.questions.append(
            (question, [answered.index(each) for each in evidence if each in answered], len(evidence))
        )

    def figures(self) -> dict[str, float]:
        return {"questions": len(self.questions), **_found(self.questions)} | {
            f"hit@10 category {category}": _found([each for each in self.questions if each[0].category == category])[
                "hit@10"
            ]
            for category in sorted({question.category for question, _, _ in self.questions})
        }


def _found(questions: Sequence[tuple[Question, list[int], int]]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for k in (5, 10):
        figures[f"hit@{k}"] = statistics.fmean(min(ranks, default=math.inf) < k for _, ranks, _ in questions)
        figures[f"recall@{k}"] = statistics.fmean(sum(rank < k for rank in ranks) / due for _, ranks, due in questions)
    figures["MRR"] = statistics.fmean(1 / (1 + min(ranks)) if ranks else 0.0 for _, ranks, _ in questions)
    return figures


class Memories:
    """The memory each turn became."""

    def __init__(self) -> None:
        self.of_turn: dict[tuple[str, str], str] = {}
        self.merged = 0

    def evidence(self, conversation: Conversation, question: Question) -> set[str]:
        return {self.of_turn[conversation.id, turn] for turn in question.evidence}


def save_all(web: Web, workspace: UUID, told: Sequence[Conversation]) -> tuple[Memories, dict[str, float]]:
    """Saves every turn, one after the other."""
    memories, client, run = Memories(), web.client(), Run(web.meter())
    for conversation in told:
        scope = {"workspace_id": str(workspace), "virtual_user_id": conversation.id}
        for turn in conversation.turns:
            body = {"scope": scope, "type": "observation", "content": turn.text, "observed_at": turn.said_at}
            answer = client.post("/api/v1/memories", body)
            saved = answer.json()
            run.seconds.append(answer.seconds)
            memories.of_turn[conversation.id, turn.id] = saved["memory"]["id"]
            memories.merged += saved["action"] == "merged"
    return memories, run.figures("save")


def ask_all(web: Web, workspace: UUID, told: Sequence[Conversation], memories: Memories) -> dict[str, float]:
    """Asks every question; an answer that is no 200 fails the run."""
    found, client, run = Found(), web.client(), Run(web.meter())
    for conversation in told:
        asked = {"workspace_id": str(workspace), "user_id": conversation.id, "limit": LIMIT}
        for question in conversation.questions:
            answer = client.post("/api/v1/memories/retrieve", asked | {"query": question.text})
            rows = answer.json()["memories"]
            run.seconds.append(answer.seconds)
            found.add(question, memories.evidence(conversation, question), [row["id"] for row in rows])
    return found.figures() | run.figures("recall")


def measure(installation: Installation, told: Sequence[Conversation]) -> dict[str, Any]:
    """Every figure, by name."""
    workspace = installation.workspaces([WORKSPACE])[WORKSPACE]
    with installation.web(provider="local") as web:
        started = time.perf_counter()
        web.client().post("/api/v1/memories/retrieve", {"workspace_id": WORKSPACE, "query": "hello"}).json()
        first_recall = time.perf_counter() - started
        memories, saving = save_all(web, workspace, told)
        asking = ask_all(web, workspace, told, memories)
        megabytes = web.megabytes()
    with installation.web(provider="none") as web:
        asking_by_text = ask_all(web, workspace, told, memories)
    return {
        "turns": sum(len(each.turns) for each in told),
        "merged saves": memories.merged,
        "first recall s": first_recall,
        "web process MB": megabytes,
        **saving,
        "with the embedder": asking,
        "text alone": asking_by_text,
    }


def table(figures: dict[str, Any]) -> Table:
    """The figures for people."""
    shown = Table("LoCoMo through HTTP", ("", "with the embedder", "text alone", "target"))
    both = figures["with the embedder"], figures["text alone"]
    for name in both[0]:
        target = f"≥ {TARGETS['local']} / ≥ {TARGETS['none']}" if name == "hit@10" else ""
        shown.add(name, both[0][name], both[1][name], target)
    for name, value in figures.items():
        if not isinstance(value, dict):
            shown.add(name, value, "", {"first recall s": "≤ 1.5", "web process MB": "≤ 300"}.get(name, ""))
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.locomo", description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    told = conversations()
    if not told:
        print(f"skipped: the LoCoMo conversations are not at {data_file()}; set OMNIA_BENCH_DATA to their file")
        return
    with installed() as installation:
        figures = measure(installation, told)
        print(table(figures).text(conditions(installation.database_url)))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
