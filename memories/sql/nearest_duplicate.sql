-- The live memories nearest to a new text, among those it may merge with: same scope, container, evidence class
-- and type, and no structured key (spec: dedup.embeddingSimilarity). The scope is scanned exactly: what decides
-- is never approximate.
--
-- Parameters: the scope's, container, evidence_class, type, model, vector, candidates.
-- Index: memory_scope (workspace_id, tier, user_id, agent_id).
WITH comparable AS MATERIALIZED (
    SELECT m.id, m.{slot.column} AS embedding FROM memories_memory m
    WHERE {scope} AND {live}
        AND m.evidence_class = %(evidence_class)s AND m.type = %(type)s
        AND m.container IS NOT DISTINCT FROM %(container)s::varchar
        AND m.entity_id IS NULL AND m.{slot.model_column} = %(model)s::smallint
), nearest AS (
    SELECT id, embedding <=> %(vector)s::halfvec({dimensions}) AS distance FROM comparable
    ORDER BY distance, id LIMIT %(candidates)s
)
SELECT n.id, n.distance, m.content FROM nearest n JOIN memories_memory m ON m.id = n.id ORDER BY n.distance, n.id
