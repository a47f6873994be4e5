-- Recall without a question, or with one that holds no word and no vector: the newest visible rows (design: Recall).
--
-- Parameters: workspace, user, agent, institutional, now, types, purposes, min_confidence, depth, k, floor,
-- tier weights, half-lives, limit, offset. Index: memory_scope.
WITH text_leg AS (
    SELECT id, NULL::float8 AS value, row_number() OVER (ORDER BY said DESC, id DESC) AS rank
    FROM (
        SELECT m.id, coalesce(m.observed_at, m.created_at) AS said FROM ({rows}) m WHERE {passing}
        ORDER BY said DESC, m.id DESC LIMIT %(depth)s
    ) latest
), vector_leg AS (
    SELECT NULL::uuid AS id, NULL::float8 AS distance, NULL::bigint AS rank WHERE FALSE
)
{fused}
