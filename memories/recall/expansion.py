"""Graph expansion: the rows that hang together with what was found, in one statement (spec: recall.graphExpansion)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from memories.recall.statement import PASSING
from memories.store.edges import incoming, outgoing, scan_parameters
from memories.store.rows import SELECT
from memories.store.scope_sql import VISIBLE
from omnia.core.scope import Scope
from omnia.db import fetch_dicts, load_sql
from policies.domain.document import GraphExpansion

_EDGE = (
    "jsonb_build_object('source_id', f.source_id, 'target_id', f.target_id,"
    " 'relation_type', f.relation_type, 'weight', f.weight)"
)


def expand(
    found: Sequence[dict[str, Any]], *, walk: GraphExpansion, scope: Scope, parameters: dict[str, Any]
) -> list[dict[str, Any]]:
    """At most `walk.max_added` rows that are not among `found`, best first, with score, hops, seed and path.

    `parameters` are the recall's own, so that what is added passes every filter it has.
    """
    if not found:
        return []
    return fetch_dicts(
        _statement(),
        parameters
        | scan_parameters(scope)
        | {
            "seeds": [row["id"] for row in found],
            "scores": [row["score"] for row in found],
            "hops": walk.hops,
            "weight": walk.weight,
            "relation_types": list(walk.relation_types) or None,
            "max_added": walk.max_added,
        },
    )


@cache
def _statement() -> str:
    return load_sql("memories", "expand").format(
        edge=_EDGE, select=SELECT, from_seed=_step("s.id"), from_near=_step("n.id")
    )


def _step(row: str) -> str:
    return load_sql("memories", "graph_step").format(
        row=row, outgoing=outgoing(row), incoming=incoming(row), visible=VISIBLE, passing=PASSING
    )
