"""What the service adds to the database: each operation through HTTP against its floor, one hand-written statement.

Both run on the same filled table, turn about, in one run; both are counted in CPU time. The floor counts its
database backend and its client; the service counts its database backends and every process of the web
server, and not the HTTP client. Texts are embedded before anything is measured, except in a save. The use case
alone, called in this process, is measured too: the rest of an operation's cost is HTTP and who may ask.

    python -m bench.floors [--rows N] [--rounds N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psycopg

from bench.cases import Question, Saved, Scope
from bench.comparing import OPERATIONS, Comparison, Side, compare
from bench.cost import Cost
from bench.filling import fill
from bench.installation import Installation, Web, installed
from bench.rows import WORKSPACES, Corpus, corpus, rows
from bench.sides import Service, Store
from bench.table import Table, conditions

CASES, CROWDED_CASES, WARM_SAVES = 200, 40, 200
TARGETS = {
    "recall, typical scope, the use case": "≤ 1.6",
    "save, the use case": "≤ 2.5",
    "recall, typical scope": "≤ 1.35",
    "recall, 10 % of all rows shared": "≤ 1.3",
    "save": "≤ 2",
    "save, embedding apart": "≤ 2",
    "list 20": "≤ 0.35 ms",
    "list 20, largest user": "≤ 0.35 ms",
}


def recalls_a_second(web: Web, questions: Sequence[Question], *, seconds: float = 5.0) -> float:
    """Recalls answered in a second of wall time, with two clients on this machine."""
    answered = [0, 0]
    until = time.perf_counter() + seconds

    def ask(number: int) -> None:
        service = Service(web)
        for question in cycle(questions):
            if time.perf_counter() > until:
                return
            service.recall(question)
            answered[number] += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(answered) / seconds


def agreement(questions: Sequence[Question], *, service: Service, model: int) -> float:
    """The share of the ten best rows, by the exact reading of the whole scope, that the service answers too."""
    shares = []
    for question in questions:
        best = exact(question, model=model)
        answered = {row["id"] for row in service.recall(question)["memories"]}
        shares.append(len(best & answered) / len(best))
    return statistics.fmean(shares)


def exact(question: Question, *, model: int) -> set[str]:
    """The ten best rows when every row in scope is read, whatever their number."""
    from memories.embeddings.halfvec import to_halfvec
    from memories.recall import candidates
    from memories.recall.request import RecallRequest
    from memories.services.weights import weights
    from memories.store.vectors import ModelVector
    from omnia.core.scope import Scope as OwnScope
    from policies.services.resolve import policy_for

    scope = question.scope
    with patch.object(candidates, "EXACT_ROWS", 10**9):
        found = candidates.find(
            RecallRequest(OwnScope(scope.workspace, scope.user, scope.agent), query=question.text, limit=10),
            vector=ModelVector(to_halfvec(question.vector), model, len(question.vector)),
            weights=weights(policy_for(scope.workspace, service_group="default")),
            now=datetime.now(UTC),
        )
    return {str(row["id"]) for row in found}


@contextmanager
def filled(installation: Installation, known: Corpus, *, count: int) -> Iterator[Store]:
    """The database with `count` rows, which the local model is said to have embedded."""
    from memories.embeddings.local import LocalEmbedder
    from memories.models import EmbeddingModel

    model = EmbeddingModel.objects.create(name=LocalEmbedder.name, dimensions=LocalEmbedder.dimensions).pk
    workspaces = list(installation.workspaces([f"bench-{n}" for n in range(1, WORKSPACES + 1)]).values())
    with psycopg.connect(installation.database_url, autocommit=True) as connection:
        fill(connection, rows(count, corpus=known, seed=100, now=datetime.now(UTC)), workspaces=workspaces, model=model)
        yield Store(connection, model=model)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked: by users as active as they are, and by users beside the most institutional rows."""

    typical: Sequence[Question]
    crowded: Sequence[Question]
    largest: Scope


def asked(store: Store, known: Corpus) -> Asked:
    """The same for the same rows."""
    chance, scopes = random.Random(3), store.scopes()
    most = max(scope.shared for scope in scopes)
    beside = [scope for scope in scopes if scope.shared == most]

    def by(users: Sequence[Scope], count: int) -> list[Question]:
        texts = chance.choices(known.questions, k=count)
        return store.questions(texts, chance.choices(users, weights=[user.own for user in users], k=count))

    return Asked(by(scopes, CASES), by(beside, CROWDED_CASES), scopes[0])


def measure(installation: Installation, *, count: int, rounds: int) -> dict[str, Any]:
    """Every comparison by name, and what else is said about recall."""
    known = corpus()
    with filled(installation, known, count=count) as store:
        questions = asked(store, known)
        figures = _recall_inside(store, questions, rounds=rounds)
        with installation.web(provider="local") as web:
            figures |= _reads(web, store, questions, rounds=rounds)
        scopes = [question.scope for question in questions.typical]
        return figures | _saves(installation, store, known, scopes, rounds=rounds)


def _recall_inside(store: Store, questions: Asked, *, rounds: int) -> dict[str, Any]:
    """The use case without HTTP, which tells what the statement and its surroundings cost."""
    from bench.inside import inside
    from memories.embeddings.local import LocalEmbedder

    cases = questions.typical
    floor = Side(store.recall, cycle(cases), store.meter())
    with inside(LocalEmbedder.name, questions=cases) as calls:
        service = Side(calls.recall, cycle(cases), calls.meter())
        return {
            "recall, typical scope, the use case": compare(floor=floor, service=service, rounds=rounds, warm=len(cases))
        }


def _save_inside(store: Store, saves: Sequence[Saved], *, rounds: int) -> dict[str, Any]:
    from bench.inside import inside
    from memories.embeddings.hashing import HashingEmbedder

    floor = Side(store.save, iter(saves[::2]), store.meter())
    with inside(HashingEmbedder.name, saves=saves) as calls:
        service = Side(calls.save, iter(saves[1::2]), calls.meter())
        return {"save, the use case": compare(floor=floor, service=service, rounds=rounds, warm=WARM_SAVES)}


def _reads(web: Web, store: Store, questions: Asked, *, rounds: int) -> dict[str, Any]:
    service = Service(web)

    def recall(cases: Sequence[Question]) -> Comparison:
        floor = Side(store.recall, cycle(cases), store.meter())
        return compare(
            floor=floor, service=Side(service.recall, cycle(cases), web.meter()), rounds=rounds, warm=len(cases)
        )

    def newest(cases: Sequence[Scope]) -> Comparison:
        floor = Side(store.newest, cycle(cases), store.meter())
        return compare(
            floor=floor, service=Side(service.newest, cycle(cases), web.meter()), rounds=rounds, warm=OPERATIONS
        )

    return {
        "recall, typical scope": recall(questions.typical),
        "recall, 10 % of all rows shared": recall(questions.crowded),
        "list 20": newest([question.scope for question in questions.typical]),
        "list 20, largest user": newest([questions.largest]),
        "shared rows of the large scope": questions.crowded[0].scope.shared,
        "recall@10 of the large scope": agreement(questions.crowded, service=service, model=store.model),
        "recalls a second": recalls_a_second(web, questions.typical),
    }


def _saves(
    installation: Installation, store: Store, known: Corpus, scopes: Sequence[Scope], *, rounds: int
) -> dict[str, Any]:
    """Saves embed by hashing, so that the model's time does not hide the rest; the rows pass for that model's."""
    from memories.embeddings.hashing import HashingEmbedder

    store.connection.execute(
        "UPDATE memories_embedding_model SET name = %s WHERE id = %s", [HashingEmbedder.name, store.model]
    )
    texts = 2 * (OPERATIONS * rounds + WARM_SAVES)
    saves, embedding = _texts_to_save(known, scopes, count=2 * texts)
    figures = _save_inside(store, saves[texts:], rounds=rounds)
    with installation.web(provider="hashing") as web:
        floor = Side(store.save, iter(saves[::2]), store.meter())
        service = Side(Service(web).save, iter(saves[1::2]), web.meter())
        found = compare(floor=floor, service=service, rounds=rounds, warm=WARM_SAVES)
    apart = Comparison(found.floor, Cost(found.service.program - embedding, found.service.database))
    return figures | {"save": found, "save, embedding apart": apart, "embedding by hashing, CPU ms": embedding}


def _texts_to_save(known: Corpus, scopes: Sequence[Scope], *, count: int) -> tuple[list[Saved], float]:
    """New texts with their vectors, and the CPU milliseconds that embedding one takes."""
    from memories.domain.embedding_text import embedding_text
    from memories.embeddings.hashing import HashingEmbedder

    told = list(rows(count, corpus=known, seed=4711, now=datetime.now(UTC)))
    started = time.process_time()
    vectors = HashingEmbedder().embed_passages([embedding_text(row.title, row.content) for row in told])
    embedding = 1000 * (time.process_time() - started) / count
    whose = zip(cycle(scopes), told, vectors, strict=False)
    return [Saved(scope, row.title, row.content, vector) for scope, row, vector in whose], embedding


def table(figures: dict[str, Any]) -> Table:
    """The figures for people."""
    shown = Table(
        "Through HTTP against the floor, CPU ms",
        ("", "floor", "database", "client", "service", "database", "web", "ratio", "target"),
    )
    for name, found in figures.items():
        if isinstance(found, Comparison):
            floor, service = found.floor, found.service
            sides = (floor.total, floor.database, floor.program, service.total, service.database, service.program)
            shown.add(name, *sides, found.ratio, TARGETS.get(name, ""))
    targets = {"recall@10 of the large scope": "≥ 0.95", "recalls a second": "≥ 1,500"}
    for name, found in figures.items():
        if not isinstance(found, Comparison):
            shown.add(name, "", "", "", found, "", "", "", targets.get(name, ""))
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.floors", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="rows to fill the table with (100,000)")
    parser.add_argument("--rounds", type=int, default=9, help="rounds a comparison (9)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    with installed() as installation:
        figures = measure(installation, count=arguments.rows, rounds=arguments.rounds)
        notes = conditions(installation.database_url, f"{arguments.rows:,} rows", "the HTTP client not counted")
        print(table(figures).text(notes))
    if arguments.json:
        plain = {name: asdict(each) if isinstance(each, Comparison) else each for name, each in figures.items()}
        arguments.json.write_text(json.dumps(plain, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
