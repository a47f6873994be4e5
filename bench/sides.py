"""The two sides of a comparison: statements on a connection of our own, and the web server through HTTP."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from bench import statements
from bench.cases import Question, Saved, Scope
from bench.cost import Meter
from bench.installation import Web
from bench.processes import usage
from omnia.core.ids import uuid7

EXACT_ROWS = 3_000
"""Above so many shared rows the floor goes through the indexes too."""


class Store:
    """The filled database as the floor sees it: one connection, statements prepared."""

    def __init__(self, connection: psycopg.Connection[Any], *, model: int) -> None:
        self.connection = connection
        self.model = model
        register_vector(connection)
        connection.execute("SET hnsw.iterative_scan = relaxed_order; SET hnsw.ef_search = 60")

    def meter(self) -> Meter:
        """Measures this process and its backend."""
        backend = self.connection.info.backend_pid
        return Meter(program=lambda: usage([os.getpid()]), database=lambda: usage([backend]))

    def recall(self, question: Question) -> list[Any]:
        scope, large = question.scope, question.scope.shared > EXACT_ROWS
        parameters = {
            "workspace": scope.workspace,
            "user": scope.user,
            "agent": scope.agent,
            "vector": HalfVector(question.vector),
            "words": question.words,
            "rare": question.rare,
            "scoped": f"'§{scope.workspace}.0' & ({question.rare})",
        }
        sql = statements.RECALL_LARGE if large else statements.RECALL
        return self.connection.execute(sql, parameters, prepare=not large).fetchall()

    def save(self, saved: Saved) -> Any:
        parameters = {
            "id": uuid7(),
            "workspace": saved.scope.workspace,
            "user": saved.scope.user,
            "title": saved.title,
            "content": saved.content,
            "vector": HalfVector(saved.vector),
            "model": self.model,
        }
        return self.connection.execute(statements.SAVE, parameters, prepare=True).fetchone()

    def newest(self, scope: Scope) -> list[Any]:
        parameters = {"workspace": scope.workspace, "user": scope.user}
        return self.connection.execute(statements.LIST, parameters, prepare=True).fetchall()

    def scopes(self) -> list[Scope]:
        """Every user, the most active first."""
        found = self.connection.execute("""
            SELECT workspace_id, user_id, coalesce(min(agent_id), 'agent-1') AS agent, max(shared.rows), count(*) AS own
            FROM memories_memory JOIN (
                SELECT workspace_id, count(*) AS rows FROM memories_memory WHERE tier = 0 GROUP BY workspace_id
            ) shared USING (workspace_id)
            WHERE tier >= 2 GROUP BY workspace_id, user_id ORDER BY own DESC, user_id
        """)
        return [Scope(*row) for row in found]

    def questions(self, texts: Sequence[str], scopes: Sequence[Scope]) -> list[Question]:
        """One question a scope, with its vector and its words as the text index knows them."""
        from memories.embeddings.local import LocalEmbedder

        vectors = LocalEmbedder().embed_passages(texts)
        common = self._common_words()
        asked = []
        for text, vector, scope in zip(texts, vectors, scopes, strict=True):
            [(words,)] = self.connection.execute("SELECT tsvector_to_array(to_tsvector('english', %s))", [text])
            rare = sorted(words, key=lambda word: common.get(word, 0))[:4]
            asked.append(Question(scope, text, vector, _any_of(words), _any_of(rare)))
        return asked

    def _common_words(self) -> dict[str, int]:
        sample = "SELECT tsv FROM memories_memory LIMIT 30000"
        return dict(self.connection.execute("SELECT word, ndoc FROM ts_stat(%s)", [sample]).fetchall())


def _any_of(words: Sequence[str]) -> str:
    quoted = ["'{}'".format(word.replace("\\", "\\\\").replace("'", "''")) for word in words]
    return " | ".join(quoted) or "'§'"


class Service:
    """The web server as a client sees it."""

    def __init__(self, web: Web) -> None:
        self._client = web.client()

    def recall(self, question: Question) -> Any:
        scope = question.scope
        whose = {"workspace_id": str(scope.workspace), "user_id": scope.user, "agent_id": scope.agent}
        body = whose | {"query": question.text, "limit": 10}
        return self._client.post("/api/v1/memories/retrieve", body).json()

    def save(self, saved: Saved) -> Any:
        scope = {"workspace_id": str(saved.scope.workspace), "virtual_user_id": saved.scope.user}
        body = {"scope": scope, "type": "fact", "title": saved.title, "content": saved.content}
        return self._client.post("/api/v1/memories", body).json()

    def newest(self, scope: Scope) -> Any:
        asked = {"workspace": scope.workspace, "user_id": scope.user, "limit": 20}
        return self._client.get(f"/api/v1/memories?{urlencode(asked)}").json()
