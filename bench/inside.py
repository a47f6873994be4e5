"""The use cases called in this process, to the JSON they answer: the service without HTTP, its vectors given."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from bench.cases import Question, Saved
from bench.cost import Meter
from bench.processes import usage
from memories.domain.embedding_text import embedding_text
from memories.domain.save import SaveCommand
from memories.embeddings import current
from memories.embeddings.base import Vector
from memories.recall.request import RecallRequest
from memories.services.recall import recall
from memories.services.remember import remember
from omnia.api.responses import dumps
from omnia.core.actor import Actor
from omnia.core.scope import Scope
from policies.services.resolve import policy_for


@dataclass(frozen=True, slots=True)
class Given:
    """An embedder that was told every vector beforehand; it passes for the model named."""

    name: str
    dimensions: int
    vectors: Mapping[str, Vector]

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | None]:
        return [self.vectors[text] for text in texts]

    def embed_query(self, text: str) -> Vector | None:
        return self.vectors[text]


@contextmanager
def inside(model: str, *, questions: Iterable[Question] = (), saves: Iterable[Saved] = ()) -> Iterator[Inside]:
    """The use cases with the vectors of these questions and texts."""
    vectors = {question.text: question.vector for question in questions}
    vectors |= {embedding_text(saved.title, saved.content): saved.vector for saved in saves}
    dimensions = len(next(iter(vectors.values())))
    with current.use(Given(model, dimensions, vectors)):
        yield Inside()


class Inside:
    """One caller in this process."""

    _actor = Actor(name="system:bench")

    def meter(self) -> Meter:
        """Measures this process and its backend."""
        from django.db import connection

        connection.ensure_connection()
        backend = connection.connection.info.backend_pid
        return Meter(program=lambda: usage([os.getpid()]), database=lambda: usage([backend]))

    def recall(self, question: Question) -> bytes:
        scope = question.scope
        asked = RecallRequest(Scope(scope.workspace, scope.user, scope.agent), query=question.text, limit=10)
        policy = policy_for(scope.workspace, service_group="default")
        return dumps(recall(asked, policy=policy, now=datetime.now(UTC)).as_json())

    def save(self, saved: Saved) -> bytes:
        scope = Scope(saved.scope.workspace, saved.scope.user)
        command = SaveCommand(scope, type="fact", title=saved.title, content=saved.content)
        policy = policy_for(scope.workspace, service_group="default")
        return dumps(remember(command, policy=policy, now=datetime.now(UTC), actor=self._actor).as_json())
