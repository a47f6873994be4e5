-- Memories of a document, many at once, in the institutional tier. Their vectors follow in the background.
--
-- Parameters: arrays ids, types, titles, contents, summaries of one length; workspace, document, metadata, source_type,
-- confidence, expires_at, embed_after, now.
-- No index beyond the table's own.
INSERT INTO memories_memory (
    id, workspace_id, tier, document_id, type, content, title, summary, metadata, evidence_class, source_type,
    mutability, confidence, evidence_count, created_at, updated_at, access_count, expires_at, embed_after, embed_attempts
)
SELECT n.id, %(workspace)s::uuid, 0, %(document)s::uuid, n.type, n.content, n.title, n.summary, %(metadata)s::jsonb,
    'inferred', %(source_type)s::text, 'immutable', %(confidence)s::float8, 1, %(now)s::timestamptz,
    %(now)s::timestamptz, 0, %(expires_at)s::timestamptz, %(embed_after)s::timestamptz, 0
FROM unnest(%(ids)s::uuid[], %(types)s::text[], %(titles)s::text[], %(contents)s::text[], %(summaries)s::text[])
    AS n (id, type, title, content, summary)
