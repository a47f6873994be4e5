-- The rows of a scope as they were at an earlier moment, in the shape of memories_memory (design: as_of).
--
-- What a row said then is its earliest wording replaced since; without one it still says what it said. Where that was
-- only said later (`said_at`), what it said then is kept no more, and the row does not count. Texts of the
-- history have no vector, and their words are made here. A superseded row is an earlier saying of the row in its place
-- and goes where that goes: it does not come back once a later one was forgotten or has expired.
--
-- Parameters: as_of, today, and what the predicate names. Indexes: those of the predicate; memories_wording
-- (memory_id); primary key.
SELECT m.id, m.tier, m.source_type, m.purpose, m.expires_at, m.retired_at, m.retired_as, m.observed_at, m.created_at,
    CASE WHEN m.reinforced_at <= %(as_of)s THEN m.reinforced_at END AS reinforced_at,
    coalesce(w.type, m.type) AS type, coalesce(w.confidence, m.confidence) AS confidence,
    CASE WHEN w.id IS NULL THEN m.tsv ELSE setweight(to_tsvector('english', left(coalesce(w.title, ''), 8192)), 'A')
        || setweight(to_tsvector('english', left(w.content, 131072)), 'B') END AS tsv,
    CASE WHEN w.id IS NULL THEN m.embedding END AS embedding, m.embedding_model_id,
    CASE WHEN w.id IS NULL THEN m.second_embedding END AS second_embedding, m.second_embedding_model_id,
    coalesce(w.said_at, m.worded_at, m.created_at) AS said_at
FROM memories_memory m LEFT JOIN LATERAL (
    SELECT * FROM memories_wording w WHERE w.memory_id = m.id AND w.replaced_at > %(as_of)s
    ORDER BY w.replaced_at, w.id LIMIT 1
) w ON TRUE
WHERE {predicate} AND (m.superseded_by_id IS NULL OR NOT EXISTS (
    WITH RECURSIVE later AS (
        SELECT s.id, s.superseded_by_id, s.retired_as, s.expires_at FROM memories_memory s WHERE s.id = m.superseded_by_id
        UNION
        SELECT s.id, s.superseded_by_id, s.retired_as, s.expires_at
        FROM later JOIN memories_memory s ON s.id = later.superseded_by_id
    )
    SELECT FROM later WHERE retired_as = 'forgotten' OR expires_at <= %(today)s
))
