-- Recall of rows asked for by name: each is scored as the best answer of one leg (design: Recall).
--
-- Parameters: workspace, user, agent, institutional, now, types, purposes, min_confidence, k, floor, tier weights,
-- half-lives, limit, offset, and what the selection names. Indexes: primary key, memory_entity, memory_scope.
WITH text_leg AS (
    SELECT {known}, NULL::float8 AS value, 1::bigint AS rank FROM memories_memory m JOIN ({selection}) named USING (id)
), vector_leg AS (
    SELECT *, NULL::float8 AS distance FROM text_leg WHERE FALSE
)
{fused}
