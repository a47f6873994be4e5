-- Recall where the shared tiers hold many rows: private tiers exact, shared ones by index (design: Recall).
--
-- The shared rows come through two indexes: the nearest by HNSW (iterative, so a filter never leaves it
-- short), the matching by GIN with a lexeme that names workspace and tier. Word weights come from the rows
-- that match, out of all rows of the scope.
--
-- Parameters: as recall.sql, and s_institutional, s_agent (tsquery: scope lexeme AND any of the rarer words),
-- n_shared (rows of the shared scope).
-- Indexes: memory_newest; memory_shared_vector_<dimensions>; memory_shared_text.
WITH private AS MATERIALIZED (
    SELECT {known}, {distance} AS distance, {mask} AS mask, length(m.tsv) AS words
    FROM ({private}) m WHERE {passing}
), shared_near AS MATERIALIZED (
    {nearest}
), shared_match AS MATERIALIZED (
    SELECT {known}, {mask} AS mask, length(m.tsv) AS words FROM ({matching}) m WHERE {passing}
), visible AS (
    SELECT id, tier, source_type, confidence, said, mask, words FROM private
    UNION ALL SELECT id, tier, source_type, confidence, said, mask, words FROM shared_match
), masks AS MATERIALIZED (
    SELECT mask, count(*)::float8 AS rows FROM visible GROUP BY mask
), total AS MATERIALIZED (
    SELECT count(*) + %(n_shared)s::float8 AS n FROM private
), {text_value}, vector_leg AS (
    SELECT *, row_number() OVER (ORDER BY distance, id DESC) AS rank
    FROM (
        SELECT id, tier, source_type, confidence, said, distance FROM private WHERE distance <= %(farthest)s::float8
        UNION ALL
        SELECT id, tier, source_type, confidence, said, distance FROM shared_near WHERE distance <= %(farthest)s::float8
        ORDER BY distance, id DESC LIMIT %(depth)s
    ) nearest
), {text_leg}
{fused}
