"""One workspace, one caller and the requests a test makes, so that a test says only what it is about."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.test import Client

from memories.domain.save import SaveCommand, SaveResult
from memories.embeddings.base import Embedder, EmbeddingFailed, Vector, usable
from memories.embeddings.current import use
from memories.embeddings.hashing import HashingEmbedder
from memories.recall.shared_rows import forget_counts
from memories.services.remember import remember
from omnia.api.principal import Role
from omnia.core.actor import Actor
from omnia.core.scope import Scope, Tier
from policies.models import MemoryPolicy, ServiceGroup, Workspace
from policies.services.resolve import clear_cache, policy_for
from tests.callers import caller
from tests.contract.policy_documents import admitted

_numbers = itertools.count(1)


def pair(cosine: float, *, seed: int = 0, dimensions: int = 384) -> tuple[Vector, Vector]:
    """Two random unit vectors at exactly this cosine."""
    random = np.random.default_rng(seed)
    one, other = random.normal(size=(2, dimensions))
    one /= np.linalg.norm(one)
    other -= one * (one @ other)
    other = cosine * one + np.sqrt(1 - cosine**2) * other / np.linalg.norm(other)
    first, second = usable(one, dimensions), usable(other, dimensions)
    assert first is not None
    assert second is not None
    return first, second


@dataclass
class Table:
    """An embedder whose vectors the test chooses; texts it does not name are hashed. `fails` refuses every text."""

    vectors: Mapping[str, Vector | None] = field(default_factory=dict)
    fails: bool = False
    name: str = "table-384"
    dimensions: int = 384
    asked: list[str] = field(default_factory=list)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | None]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> Vector | None:
        self.asked.append(text)
        if self.fails:
            raise EmbeddingFailed("the model is away")
        return self.vectors[text] if text in self.vectors else HashingEmbedder().embed_query(text)


class Meanwhile(Table):
    """Something else happens once, while the next text is embedded."""

    then: Callable[[], object] | None = None

    def embed_query(self, text: str) -> Vector | None:
        then, self.then = self.then, None
        if then:
            then()
        return super().embed_query(text)


def new_workspace(policy: Mapping[str, Any] | None = None) -> UUID:
    """A workspace whose default service group binds a policy with this spec, or none."""
    number = next(_numbers)
    name = f"w{number}"
    workspace = Workspace.objects.create(name=name)
    ServiceGroup.objects.create(workspace=workspace, name="default", policy_name=f"{name}-policy")
    if policy is not None:
        MemoryPolicy.objects.create(name=f"{name}-policy", spec=admitted(policy), phase="Active")
    return workspace.uid


@dataclass
class Store:
    """The requests of one caller in one workspace. Each answers the JSON of the status it expects."""

    workspace: UUID
    client: Client

    def save(self, content: str = "Lives in Lyon", *, user: str | None = "u1", agent: str | None = None,
             status: int = 201, headers: Mapping[str, str] | None = None, **fields: Any) -> dict[str, Any]:  # fmt: skip
        scope = {"workspace_id": str(self.workspace), "virtual_user_id": user, "agent_id": agent}
        body = {"scope": scope, "type": "fact", "content": content, **fields}
        return self.send("POST", "memories", body, status=status, headers=headers)

    def recall(self, query: str = "", *, user: str | None = "u1", agent: str | None = None,
               status: int = 200, **fields: Any) -> dict[str, Any]:  # fmt: skip
        scope = {"workspace_id": str(self.workspace), "user_id": user, "agent_id": agent}
        given = {name: value for name, value in scope.items() if value is not None}
        return self.send("POST", "memories/retrieve", given | {"query": query, **fields}, status=status)

    def browse(self, *, status: int = 200, **query: Any) -> dict[str, Any]:
        return self.get("memories", status=status, **query)

    def search(self, q: str, *, status: int = 200, **query: Any) -> dict[str, Any]:
        return self.get("memories/search", status=status, q=q, **query)

    def open(self, memory: object, *, status: int = 200, **query: Any) -> dict[str, Any]:
        return self.get(f"memories/{memory}", status=status, **query)

    def history(self, memory: object, *, status: int = 200, **query: Any) -> dict[str, Any]:
        return self.get(f"memories/{memory}/history", status=status, **query)

    def patch(self, memory: object, changes: Any, *, status: int = 200, **query: Any) -> dict[str, Any]:
        return self.send("PATCH", f"memories/{memory}", changes, status=status, query=self._scope(query))

    def forget(self, memory: object, *, status: int = 200, **query: Any) -> dict[str, Any]:
        return self.send("DELETE", f"memories/{memory}", None, status=status, query=self._scope(query))

    def get(self, path: str, *, status: int = 200, **query: Any) -> dict[str, Any]:
        return self.send("GET", path, None, status=status, query=self._scope(query))

    def send(self, method: str, path: str, body: Any, *, status: int, query: Mapping[str, Any] | None = None,
             headers: Mapping[str, str] | None = None) -> dict[str, Any]:  # fmt: skip
        answer = self.client.generic(
            method,
            f"/api/v1/{path}",
            "" if body is None else body if isinstance(body, str) else json.dumps(body),
            content_type="application/json",
            query_params=query,
            headers=headers,
        )
        assert answer.status_code == status, answer.content[:800]
        return dict(answer.json())

    def keep(self, content: str, *, user: str | None = None, agent: str | None = None, now: datetime | None = None,
             **fields: Any) -> SaveResult:  # fmt: skip
        """A memory saved in any tier and at any moment, past the route that takes user tiers and the clock's time."""
        command = SaveCommand(**{"scope": self.scope(user, agent), "type": "fact", "content": content, **fields})
        return remember(command, policy=self.policy(), now=now or datetime.now(UTC), actor=Actor("system:tests"))

    def policy(self) -> Any:
        return policy_for(self.workspace, service_group="default")

    def scope(self, user: str | None = "u1", agent: str | None = None) -> Scope:
        return Scope(self.workspace, user, agent)

    def rows(self, columns: str = "*") -> list[dict[str, Any]]:
        """Every row the workspace holds, live or not, oldest first."""
        return select(f"SELECT {columns} FROM memories_memory WHERE workspace_id = %s ORDER BY id", self.workspace)

    def _scope(self, query: Mapping[str, Any]) -> dict[str, Any]:
        given = {"workspace": str(self.workspace), "user_id": "u1"} | dict(query)
        return {name: value for name, value in given.items() if value is not None}


@contextmanager
def opened_store(
    *, policy: Mapping[str, Any] | None = None, embedder: Embedder | None = None, embeds: bool = True,
    role: Role = Role.OWNER, **wishes: Any,
) -> Iterator[Store]:  # fmt: skip
    """A store in a workspace of its own, with the hashing embedder unless another is given, or none at all."""
    clear_cache()
    forget_counts()
    with use(embedder or HashingEmbedder() if embeds else None):
        yield Store(new_workspace(policy), caller(role, **wishes))


def select(sql: str, *parameters: Any) -> list[dict[str, Any]]:
    """The rows of one statement of the test's own."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return [dict(zip([column.name for column in cursor.description], row, strict=True)) for row in cursor]


def run(sql: str, *parameters: Any) -> int:
    """How many rows a statement of the test's own changed."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return int(cursor.rowcount)


def lasts(memory: dict[str, Any]) -> timedelta:
    """From the last change to the expiry, in whole seconds."""
    span = datetime.fromisoformat(memory["expires_at"]) - datetime.fromisoformat(memory["updated_at"])
    return timedelta(seconds=round(span.total_seconds()))


def contents(answer: Mapping[str, Any]) -> list[str]:
    """The bodies of an answer, in its order."""
    return [memory["content"] for memory in answer["memories"]]


def ids(answer: Mapping[str, Any]) -> list[str]:
    return [memory["id"] for memory in answer["memories"]]


def fill(
    workspace: UUID, rows: int, *, user: str | None = None, agent: str | None = None, text: str = "filler number {i}",
    first: datetime = datetime(2026, 1, 1, tzinfo=UTC), vectors: Sequence[str] = (), model: int | None = None,
) -> None:  # fmt: skip
    """Inserts rows by SQL, a second apart from `first`; `{i}` in the text is the row's number.

    `vectors` are halfvec literals the rows take in turn.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO memories_memory (id, workspace_id, tier, user_id, agent_id, type, content, metadata,
                evidence_class, source_type, mutability, confidence, evidence_count, created_at, updated_at,
                access_count, embed_attempts, embedding, embedding_model_id)
            SELECT uuidv7(), %(workspace)s, %(tier)s, %(user)s, %(agent)s, 'fact',
                replace(%(text)s::text, '{i}', i::text), '{}', 'inferred', 'conversation_extraction', 'mutable', 0.7, 1,
                %(first)s::timestamptz + i * interval '1 second', %(first)s::timestamptz + i * interval '1 second', 0, 0,
                (%(vectors)s::text[])[1 + i %% greatest(cardinality(%(vectors)s::text[]), 1)]::halfvec, %(model)s
            FROM generate_series(1, %(rows)s) i""",
            {
                "workspace": workspace,
                "tier": Tier.of(user, agent).code,
                "user": user,
                "agent": agent,
                "text": text,
                "first": first,
                "rows": rows,
                "vectors": list(vectors),
                "model": model,
            },
        )
