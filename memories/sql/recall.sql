-- Recall over a scope small enough to be read whole: exact in every tier (design: Recall).
--
-- One scan of the visible rows gives each its cosine distance and a bit mask of the question's words it holds. How many
-- rows hold a word makes its weight (the inverse document frequency inside this scope), the weights of a row's words
-- add up to its text value, and both legs are fused by reciprocal rank. What the factors of the score are made of comes
-- along, so that only the rows that are answered are fetched again.
--
-- Parameters: workspace, user, agent, institutional (the workspace again, or NULL where the edition has no
-- institutional tier), now, model, vector (halfvec or NULL), w0..w11 (tsquery or NULL), types, purposes,
-- min_confidence, farthest (distance), depth, k, floor, tier weights t_*, half-lives h_* in seconds (NULL: no
-- decay), limit, offset.
-- Indexes: memory_scope (workspace_id, tier, user_id, agent_id), memory_newest (workspace_id, user_id, …).
WITH visible AS MATERIALIZED (
    SELECT {known}, {distance} AS distance, {mask} AS mask, length(m.tsv) AS words
    FROM ({rows}) m WHERE {passing}
), masks AS MATERIALIZED (
    SELECT mask, count(*)::float8 AS rows FROM visible GROUP BY mask
), total AS MATERIALIZED (
    SELECT sum(rows) AS n FROM masks
), {text_value}, vector_leg AS (
    SELECT *, row_number() OVER (ORDER BY distance, id DESC) AS rank
    FROM (
        SELECT id, tier, source_type, confidence, said, distance FROM visible WHERE distance <= %(farthest)s::float8
        ORDER BY distance, id DESC LIMIT %(depth)s
    ) nearest
), {text_leg}
{fused}
