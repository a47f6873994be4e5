-- One new memory, answered as the row of a memory object. Parameters: the columns by name; vectors are halfvecs or NULL.
-- No index beyond the table's own.
INSERT INTO memories_memory AS m (
    id, workspace_id, tier, user_id, agent_id, container, type, content, title, summary, metadata, entity_id,
    consent_category, purpose, session_id, turn_range, evidence_class, source_type, mutability, confidence,
    evidence_count, observed_at, created_at, updated_at, access_count, expires_at,
    embedding, embedding_model_id, second_embedding, second_embedding_model_id, embed_after, embed_attempts
) VALUES (
    %(id)s, %(workspace)s, %(tier)s, %(user)s, %(agent)s, %(container)s, %(type)s, %(content)s, %(title)s, %(summary)s,
    %(metadata)s::jsonb, %(entity)s, %(category)s, %(purpose)s, %(session_id)s, %(turn_range)s, %(evidence_class)s,
    %(source_type)s, 'mutable', %(confidence)s, 1, %(observed_at)s, %(now)s, %(now)s, 0, %(expires_at)s,
    %(vector)s::halfvec, %(model)s, %(second_vector)s::halfvec, %(second_model)s, %(embed_after)s, 0
)
RETURNING {returning}
