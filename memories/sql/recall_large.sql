-- Recall where the shared tiers hold many rows: private tiers exact, shared ones by index (design: Recall).
--
-- The shared rows come through two indexes: the nearest by HNSW (iterative, so a filter never leaves it
-- short), the matching by GIN with a lexeme that names workspace and tier. Word weights come from the rows
-- that match, whose number stands for the frequencies inside the scope.
--
-- Parameters: as recall.sql, and s_institutional, s_agent (tsquery: scope lexeme AND any of the rarer words),
-- n_shared (rows in the shared scope, for the weights).
-- Indexes: memory_scope; memory_shared_vector_<dimensions>; memory_shared_text.
WITH private AS MATERIALIZED (
    {private}
), shared_near AS MATERIALIZED (
    {nearest}
), shared_match AS MATERIALIZED (
    {matching}
), visible AS (
    SELECT id, mask, words FROM private UNION ALL SELECT id, mask, words FROM shared_match
), masks AS (
    SELECT mask, count(*) AS rows FROM visible GROUP BY mask
), frequency AS (
    SELECT (SELECT count(*) FROM private) + %(n_shared)s::bigint AS n, {frequency} FROM masks
), weight AS (
    SELECT {weights} FROM frequency
), text_value AS (
    SELECT mask, {text_value} AS value FROM masks, weight WHERE mask > 0
), vector_leg AS (
    SELECT id, distance, row_number() OVER (ORDER BY distance, id DESC) AS rank
    FROM (
        SELECT id, distance FROM private WHERE distance <= %(farthest)s::float8
        UNION ALL SELECT id, distance FROM shared_near
        ORDER BY distance, id DESC LIMIT %(depth)s
    ) nearest
), text_leg AS (
    SELECT id, value, row_number() OVER (ORDER BY value DESC, words DESC, id DESC) AS rank
    FROM (
        SELECT id, value, words FROM visible JOIN text_value USING (mask)
        ORDER BY value DESC, words DESC, id DESC LIMIT %(depth)s
    ) best
)
{fused}
