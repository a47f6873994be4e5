"""Rows a recall asks for by name: seeds by their id, and structured lookups (design: Recall).

They come on top of what the question finds, in one statement, and pass the same scope and filters.
"""

from __future__ import annotations

from typing import Any

from memories.domain.lookup import Lookup
from memories.recall.request import RecallRequest
from memories.recall.statement import PASSING, named
from memories.store.scope_sql import VISIBLE, Where
from omnia.db import fetch_dicts

_SEEDS = (
    f"SELECT m.id FROM memories_memory m WHERE m.id = ANY(%(named)s::uuid[]) AND {VISIBLE} AND {PASSING}"
    f" UNION SELECT m.id FROM memories_memory m WHERE m.entity_id = ANY(%(named)s::uuid[]) AND {VISIBLE} AND {PASSING}"
)
_ABOUT = "memories_entity about JOIN memories_memory m ON m.entity_id = about.id"
_CONDITIONS = {
    "user": "m.user_id = %({0})s",
    "agent": "m.agent_id = %({0})s",
    "purpose": "m.purpose = %({0})s",
    "kinds": "about.workspace_id = %(workspace)s AND about.kind = ANY(%({0})s::text[])",
    "name_prefix": "about.workspace_id = %(workspace)s AND starts_with(about.key, %({0})s)",
}


def find_named(request: RecallRequest, *, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows named, best first; `parameters` are the recall's own."""
    parts = [Where(_SEEDS, {"named": list(request.seeds)})] if request.seeds else []
    parts += [_looked_up(lookup, number) for number, lookup in enumerate(request.lookups)]
    if not parts:
        return []
    values = parameters | {"limit": len(request.seeds) + sum(lookup.limit for lookup in request.lookups)}
    for part in parts:
        values |= part.parameters
    return fetch_dicts(named(" UNION ".join(part.sql for part in parts)), values)


def _looked_up(lookup: Lookup, number: int) -> Where:
    """The ids one lookup finds, last changed first."""
    given = {name: getattr(lookup, name) for name in _CONDITIONS if getattr(lookup, name)}
    names = {name: f"{name}_{number}" for name in given}
    rows = _ABOUT if "kinds" in given or "name_prefix" in given else "memories_memory m"
    conditions = " AND ".join(_CONDITIONS[name].format(names[name]) for name in given)
    return Where(
        f"(SELECT m.id FROM {rows} WHERE {VISIBLE} AND {PASSING} AND {conditions}"
        f" ORDER BY m.updated_at DESC, m.id DESC LIMIT %(most_{number})s)",
        {names[name]: list(value) if name == "kinds" else value for name, value in given.items()}
        | {f"most_{number}": lookup.limit},
    )
