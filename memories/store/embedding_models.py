"""Which embedding model is in use, and which stands beside it: the turns to a model, written down one after the other.

The latest completed turn is in use, the running one is to follow. For a while after a switch the model that went
before is still written beside, because a process may not know better yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from memories.store.vectors import Shape, Slot
from omnia.config import EmbeddingConfig
from omnia.core.ids import uuid7
from omnia.db import advisory_lock, execute, fetch_dicts

LINGERS = timedelta(seconds=60)
"""How long the model that went before is written beside the one in use."""

_SELECT = """
SELECT c.*, e.name, statement_timestamp() - coalesce(c.ended_at, c.requested_at) AS age
FROM memories_embedding_change c JOIN memories_embedding_model e ON e.id = c.embedding_model_id
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn to a model. `config` describes it without its key; `age` counts from its end, or from its order.

    `ordered` False: the environment named it when nothing was in use yet.
    """

    id: UUID
    row: int
    name: str
    slot: Slot
    config: EmbeddingConfig
    status: str
    ordered: bool
    requested_at: datetime
    ended_at: datetime | None
    walked_to: UUID | None
    age: timedelta

    @property
    def shape(self) -> Shape:
        return Shape(self.config.dimensions, self.slot)


@dataclass(frozen=True, slots=True)
class InForce:
    """The models of the installation now."""

    used: Turn
    running: Turn | None
    former: Turn | None
    """The one before, where its vectors still stand."""

    @property
    def beside(self) -> Turn | None:
        """The other model whose vectors are written."""
        return self.running or (self.former if self.settles else None)

    @property
    def settles(self) -> bool:
        """Whether a process may not have heard of the last change yet."""
        return self.used.ordered and self.used.age < LINGERS

    @property
    def aim(self) -> Turn:
        """The model every memory should have a vector of."""
        return self.running or self.used


def in_force() -> InForce | None:
    """None while no vector was ever made."""
    sql = (
        f"({_SELECT} WHERE c.status = 'running') UNION ALL"
        f" ({_SELECT} WHERE c.status = 'completed' ORDER BY c.id DESC LIMIT 2)"
    )
    turns = [_turn(row) for row in fetch_dicts(sql, {})]
    running = next((turn for turn in turns if turn.status == "running"), None)
    completed = [turn for turn in turns if turn.status == "completed"]
    if not completed:
        return None
    used, *before = completed
    former = next((turn for turn in before if turn.slot is not used.slot), None)
    return InForce(used, running, former)


def known(model: str, dimensions: int) -> Turn | None:
    """The model of this name that was last in use."""
    sql = (
        f"{_SELECT} WHERE c.status = 'completed' AND %(model)s IN (c.model, e.name) AND c.dimensions = %(dimensions)s"
        " ORDER BY c.id DESC LIMIT 1"
    )
    rows = fetch_dicts(sql, {"model": model, "dimensions": dimensions})
    return _turn(rows[0]) if rows else None


def model_row(name: str, *, dimensions: int) -> int:
    """The row of the model of this name, made where it is not there yet."""
    execute(
        "INSERT INTO memories_embedding_model (name, dimensions) VALUES (%(name)s, %(dimensions)s) ON CONFLICT DO NOTHING",
        {"name": name, "dimensions": dimensions},
    )
    [row] = fetch_dicts("SELECT id FROM memories_embedding_model WHERE name = %(name)s", {"name": name})
    return int(row["id"])


def adopt(config: EmbeddingConfig, *, row: int) -> bool:
    """Puts a model in use without a change, where none is in use or the one in use has no vectors.

    False where another process was first with another model.
    """
    with transaction.atomic():
        advisory_lock("embedding-model")
        found = in_force()
        if found and found.used.row == row:
            return True
        if found and not gives_way(found):
            return False
        _insert(config, row=row, slot=found.used.slot if found else Slot.FIRST, status="completed", by="")
    return True


def gives_way(found: InForce) -> bool:
    """Whether the model in use was only named by an environment, and nothing is lost when another takes its place."""
    if found.used.ordered or found.running:
        return False
    sql = f"SELECT 1 FROM memories_memory WHERE {found.used.slot.model_column} = %(row)s::smallint LIMIT 1"
    return not fetch_dicts(sql, {"row": found.used.row})


def order(config: EmbeddingConfig, *, row: int, slot: Slot, by: str) -> UUID:
    """Writes a running turn down. Raises IntegrityError where one runs already."""
    return _insert(config, row=row, slot=slot, status="running", by=by)


def end(turn: UUID, *, status: str) -> bool:
    """Ends the running turn; False where it does not run any more. Completed is the switch: all see it or none."""
    sql = (
        "UPDATE memories_embedding_change SET status = %(status)s, ended_at = clock_timestamp(), walked_to = NULL"
        " WHERE id = %(id)s AND status = 'running'"
    )
    return bool(execute(sql, {"id": turn, "status": status}))


def note_walked(turn: UUID, *, to: UUID | None) -> None:
    sql = "UPDATE memories_embedding_change SET walked_to = %(to)s WHERE id = %(id)s AND status = 'running'"
    execute(sql, {"id": turn, "to": to})


def ensure_index(shape: Shape) -> None:
    """The approximate index of the shared tiers for these vectors; beside the writers where possible.

    One that a broken-off build left behind is of no use and is made anew. The caller is alone at it.
    """
    column, dimensions = shape.slot.column, int(shape.dimensions)
    name = f"memory_shared_{'second_' if shape.slot else ''}vector_{dimensions}"
    beside = "" if connection.in_atomic_block else "CONCURRENTLY "
    rows = fetch_dicts("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%(name)s)", {"name": name})
    with connection.cursor() as cursor:
        if rows and not rows[0]["indisvalid"]:
            cursor.execute(f"DROP INDEX {beside}IF EXISTS {name}")
        cursor.execute(
            f"CREATE INDEX {beside}IF NOT EXISTS {name} ON memories_memory"
            f" USING hnsw (({column}::halfvec({dimensions})) halfvec_cosine_ops)"
            f" WHERE tier <= 1 AND vector_dims({column}) = {dimensions}"
        )


_INSERT = """
INSERT INTO memories_embedding_change (id, embedding_model_id, slot, provider, url, model, dimensions, query_prefix,
    passage_prefix, status, requested_by, requested_at, ended_at)
VALUES (%(id)s, %(row)s, %(slot)s, %(provider)s, %(url)s, %(model)s, %(dimensions)s, %(query_prefix)s,
    %(passage_prefix)s, %(status)s::varchar, %(by)s, clock_timestamp(),
    CASE WHEN %(status)s::varchar = 'completed' THEN clock_timestamp() END)
"""
_DESCRIBED = ("provider", "url", "model", "dimensions", "query_prefix", "passage_prefix")


def _insert(config: EmbeddingConfig, *, row: int, slot: Slot, status: str, by: str) -> UUID:
    turn = uuid7()
    described = {name: getattr(config, name) for name in _DESCRIBED}
    kept = {"id": turn, "row": row, "slot": int(slot), "status": status, "by": by[:200]}
    execute(_INSERT, described | kept)
    return turn


def _turn(row: Mapping[str, Any]) -> Turn:
    return Turn(
        id=row["id"],
        row=row["embedding_model_id"],
        name=row["name"],
        slot=Slot(row["slot"]),
        config=EmbeddingConfig(**{name: row[name] for name in _DESCRIBED}),
        status=row["status"],
        ordered=bool(row["requested_by"]),
        requested_at=row["requested_at"],
        ended_at=row["ended_at"],
        walked_to=row["walked_to"],
        age=row["age"],
    )
