-- The heaviest edges that leave each of the given rows, to rows the scope may see (spec: recall.maxRelatedPerMemory).
-- Most rows have no edge at all, and cost one probe.
--
-- Parameters: memories (ids), most, the scope's, institutional, now, users, agents, scanned. Index: edge_out.
SELECT f.source_id, f.target_id, f.relation_type, f.weight
FROM unnest(%(memories)s::uuid[]) AS given(id)
CROSS JOIN LATERAL (SELECT FROM memories_edge e WHERE e.source_id = given.id LIMIT 1) has_edges
CROSS JOIN LATERAL (
    SELECT f.* FROM ({outgoing}) f JOIN memories_memory m ON m.id = f.far
    WHERE {visible} AND {live}
    ORDER BY f.weight DESC, f.id DESC LIMIT %(most)s
) f
ORDER BY f.weight DESC, f.id DESC
