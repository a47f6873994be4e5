"""A hub of any size costs a walk no more than its bounds, counted in rows and not in time (spec: recall.graphExpansion)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest

from memories.recall import expansion
from memories.recall import related as related_rows
from memories.recall.candidates import recall_parameters
from memories.recall.request import RecallRequest
from memories.services.weights import weights
from memories.store import edges
from omnia.db import fetch_dicts
from policies.domain.document import GraphExpansion
from tests.contract.graphs import added, kept, opened_graph, related
from tests.support import Store, fill, run

pytestmark = pytest.mark.django_db
SCANNED, LEAVES = 50, 3_000


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(edges, "SCANNED_EDGES", SCANNED)
    with opened_graph() as opened:
        yield opened


def hub(store: Store, *, user: str | None = "u1", relations: int = 100, text: str = "leaf {i}") -> str:
    """A memory with edges to 3,000 others, both ways, in a hundred relation types, each edge of another weight."""
    centre = kept(store, "The hub", user=None)
    fill(store.workspace, LEAVES, user=user, text=text)
    run(
        """INSERT INTO memories_edge (id, workspace_id, source_id, target_id, relation_type, weight, metadata)
        SELECT uuidv7(), m.workspace_id, CASE n %% 2 WHEN 0 THEN m.id ELSE %s::uuid END,
            CASE n %% 2 WHEN 0 THEN %s::uuid ELSE m.id END, 'type ' || n %% %s, n / 10000.0, '{}'
        FROM (SELECT m.*, row_number() OVER (ORDER BY id) AS n FROM memories_memory m
            WHERE workspace_id = %s AND user_id IS NOT DISTINCT FROM %s AND id <> %s) m""",
        centre, centre, relations, store.workspace, user, centre,
    )  # fmt: skip
    run("ANALYZE memories_edge")
    run("ANALYZE memories_memory")
    return centre


def edge_rows(plan: Mapping[str, Any]) -> float:
    """How many edges the scans of a plan read, in all."""
    own = 0.0
    if plan.get("Relation Name") == "memories_edge":
        assert plan["Node Type"] in ("Index Scan", "Index Only Scan"), plan["Node Type"]
        assert plan["Index Name"] in ("edge_out", "edge_in")
        own = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    return own + sum(edge_rows(child) for child in plan.get("Plans", ()))


def read_by(module: ModuleType, act: Callable[[], object]) -> float:
    """How many edges the one statement reads that `act` sends through `module`."""
    seen: list[float] = []

    def measure(sql: str, values: dict[str, Any]) -> list[dict[str, Any]]:
        [row] = fetch_dicts(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", values)
        seen.append(edge_rows(row["QUERY PLAN"][0]["Plan"]))
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "fetch_dicts", measure)
        act()
    [rows] = seen
    return rows


def walked(store: Store, centre: str, **walk: Any) -> float:
    """How many edges one expansion from the hub reads."""
    request = RecallRequest(store.scope())
    parameters = recall_parameters(request, weights=weights(store.policy()), now=datetime.now(UTC))
    found, rules = [{"id": centre, "score": 1.0}], GraphExpansion(**walk)
    return read_by(expansion, lambda: expansion.expand(found, walk=rules, scope=request.scope, parameters=parameters))


def test_a_hub_is_looked_at_no_further_than_the_bound(store: Store) -> None:
    centre = hub(store)
    most = {"hops": 1, "max_added": 10}
    assert 0 < walked(store, centre, **most) <= 2 * SCANNED
    # a leaf has one edge, back to the hub
    assert walked(store, centre, hops=2, max_added=10) <= 2 * SCANNED + 10
    every = tuple(f"type {number}" for number in range(100))
    assert walked(store, centre, hops=2, max_added=100, relation_types=every) <= 2 * SCANNED + 100


def test_two_hubs_beside_each_other_are_not_multiplied(store: Store) -> None:
    centre = hub(store)
    run(
        """INSERT INTO memories_edge (id, workspace_id, source_id, target_id, relation_type, weight, metadata)
        SELECT uuidv7(), workspace_id, target_id, (SELECT target_id FROM memories_edge WHERE source_id = %s
            ORDER BY weight DESC LIMIT 1), 'x', weight, '{}'
        FROM (SELECT * FROM memories_edge WHERE source_id = %s ORDER BY weight DESC OFFSET 1) e""",
        centre, centre,
    )  # fmt: skip
    # the hub both ways, the second hub's incoming edges, and a few edges of each other row of the first step
    assert walked(store, centre, hops=2, max_added=10) <= 3 * SCANNED + 4 * 10


def test_the_heaviest_are_added_and_no_more_than_asked(store: Store) -> None:
    hub(store)
    answer = store.recall("hub", graph_expansion={"hops": 2, "max_added": 7})
    assert list(added(answer)) == [f"leaf {LEAVES - number}" for number in range(7)]
    assert len(related(answer, "The hub")) == 3


def test_another_users_edges_of_a_shared_row_are_never_met(store: Store) -> None:
    centre = hub(store, user="u2")
    run(
        "INSERT INTO memories_edge (id, workspace_id, source_id, target_id, relation_type, weight, metadata)"
        " VALUES (uuidv7(), %s, %s, %s, 'x', 0.000001, '{}')",
        store.workspace, centre, kept(store, "mine"),
    )  # fmt: skip
    answer = store.recall("hub", graph_expansion=True)
    assert set(added(answer)) == {"mine"}
    assert len(related(answer, "The hub")) == 1
    assert walked(store, centre, hops=1) == 1


def test_what_a_hub_is_related_to_is_looked_up_by_index(store: Store) -> None:
    centre = hub(store)
    scope, now = store.scope(), datetime.now(UTC)
    rows = read_by(
        related_rows, lambda: related_rows.related([UUID(centre)], most=3, scope=scope, institutional=True, now=now)
    )
    assert 0 < rows <= SCANNED + 1
