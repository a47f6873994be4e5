-- Graph expansion: the rows one or two steps from the seeds, by seed score × weight^hop × edge weights, each once with
-- its best path (spec: recall.graphExpansion).
--
-- Never through a seed, nor through a row outside the scope. A second step starts from the best `max_added` rows of the
-- first only: a step never raises a score, so what lies behind the others could not be among the best.
--
-- Parameters: seeds, scores (one each), hops, weight, relation_types, max_added, the scope's, institutional, now, types,
-- purposes, min_confidence, users, agents, scanned. Indexes: edge_out, edge_in, primary key of memories_memory.
WITH near AS MATERIALIZED (
    SELECT DISTINCT ON (f.far) f.far AS id, s.score * %(weight)s::float8 * f.weight AS score, 1 AS hops,
        s.id AS seed_id, s.score AS seed_score, jsonb_build_array({edge}) AS path
    FROM unnest(%(seeds)s::uuid[], %(scores)s::float8[]) AS s(id, score) CROSS JOIN LATERAL ({from_seed}) f
    ORDER BY f.far, s.score * f.weight DESC, f.id DESC
), frontier AS MATERIALIZED (
    SELECT * FROM near WHERE %(hops)s::int > 1 ORDER BY score DESC, id DESC LIMIT %(max_added)s
), reached AS (
    SELECT * FROM near
    UNION ALL
    SELECT f.far, n.score * %(weight)s::float8 * f.weight, 2, n.seed_id, n.seed_score, n.path || {edge}
    FROM frontier n CROSS JOIN LATERAL ({from_near}) f
), once AS (
    SELECT DISTINCT ON (id) * FROM reached ORDER BY id, score DESC, hops
), added AS (
    SELECT * FROM once ORDER BY score DESC, id DESC LIMIT %(max_added)s
)
SELECT {select}, a.score, a.hops, a.seed_id, a.seed_score, a.path
FROM added a JOIN memories_memory m USING (id) LEFT JOIN memories_entity e ON e.id = m.entity_id
ORDER BY a.score DESC, a.id DESC
