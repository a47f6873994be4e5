-- A memory takes a newer wording; what it said goes to the history in the same statement (spec: dedup).
-- Evidence counts up when asked, at most once an hour by this database's clock.
--
-- Parameters: id, the new columns, said_again, reinforced and keeps_vector (bool), reason, actor, wording_id, now. Answers the
-- row of the memory object, or nothing when it is no longer live. Index: primary key.
WITH before AS (
    SELECT m.*, (type, content, title, summary, confidence) IS DISTINCT FROM
        (%(type)s::varchar, %(content)s::text, %(title)s::text, %(summary)s::text, %(confidence)s::float8) AS changes
    FROM memories_memory m WHERE m.id = %(id)s AND {live} FOR UPDATE
), kept AS (
    INSERT INTO memories_wording
        (id, memory_id, type, content, title, summary, consent_category, confidence, said_at, replaced_at, reason, actor)
    SELECT %(wording_id)s, id, type, content, title, summary, consent_category, confidence, coalesce(worded_at, created_at),
        %(now)s, %(reason)s, %(actor)s
    FROM before WHERE changes
)
UPDATE memories_memory m SET
    type = %(type)s, content = %(content)s, title = %(title)s, summary = %(summary)s, metadata = %(metadata)s::jsonb,
    confidence = %(confidence)s, expires_at = %(expires_at)s, consent_category = %(category)s, purpose = %(purpose)s,
    session_id = %(session_id)s, turn_range = %(turn_range)s, observed_at = %(observed_at)s,
    embedding = CASE WHEN %(keeps_vector)s THEN m.embedding ELSE %(vector)s::halfvec END,
    embedding_model_id = CASE WHEN %(keeps_vector)s THEN m.embedding_model_id ELSE %(model)s::smallint END,
    second_embedding = CASE WHEN %(keeps_vector)s THEN m.second_embedding ELSE %(second_vector)s::halfvec END,
    second_embedding_model_id = CASE WHEN %(keeps_vector)s THEN m.second_embedding_model_id
        ELSE %(second_model)s::smallint END,
    embed_after = CASE WHEN %(keeps_vector)s THEN m.embed_after ELSE %(embed_after)s::timestamptz END,
    embed_attempts = CASE WHEN %(keeps_vector)s THEN m.embed_attempts ELSE 0 END,
    updated_at = %(now)s, worded_at = CASE WHEN b.changes THEN %(now)s::timestamptz ELSE m.worded_at END,
    reinforced_at = CASE WHEN %(said_again)s THEN %(now)s::timestamptz ELSE m.reinforced_at END,
    evidence_count = m.evidence_count + (%(reinforced)s AND due.counts)::int,
    evidence_counted_at = CASE WHEN %(reinforced)s AND due.counts THEN statement_timestamp() ELSE m.evidence_counted_at END
FROM before b, LATERAL (
    SELECT b.evidence_counted_at IS NULL OR b.evidence_counted_at <= statement_timestamp() - interval '1 hour' AS counts
) due
WHERE m.id = b.id
RETURNING {returning}
