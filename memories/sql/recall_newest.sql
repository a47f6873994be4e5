-- Recall without a question, or with one that holds no word and no vector: the newest visible rows (design: Recall).
--
-- Parameters: workspace, user, agent, institutional, now, types, purposes, min_confidence, depth, k, floor,
-- tier weights, half-lives, limit, offset. Indexes: memory_scope, memory_newest.
WITH text_leg AS (
    SELECT *, NULL::float8 AS value, row_number() OVER (ORDER BY observed DESC, id DESC) AS rank
    FROM (
        SELECT {known}, coalesce(m.observed_at, m.created_at) AS observed FROM ({rows}) m WHERE {passing}
        ORDER BY observed DESC, m.id DESC LIMIT %(depth)s
    ) latest
), vector_leg AS (
    SELECT *, NULL::float8 AS distance FROM text_leg WHERE FALSE
)
{fused}
