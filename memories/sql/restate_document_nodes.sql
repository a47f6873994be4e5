-- Memories of a document that stay, with what it says of them now: the document's title, a section's summary. A vector
-- stays while title and content do.
--
-- Parameters: arrays ids, titles, contents, summaries of one length; embed_after, now. Index: primary key.
UPDATE memories_memory m SET
    title = n.title, content = n.content, summary = n.summary, updated_at = %(now)s::timestamptz,
    worded_at = %(now)s::timestamptz,
    embedding = CASE WHEN {same} THEN m.embedding END,
    embedding_model_id = CASE WHEN {same} THEN m.embedding_model_id END,
    second_embedding = CASE WHEN {same} THEN m.second_embedding END,
    second_embedding_model_id = CASE WHEN {same} THEN m.second_embedding_model_id END,
    embed_after = CASE WHEN {same} THEN m.embed_after ELSE %(embed_after)s::timestamptz END,
    embed_attempts = CASE WHEN {same} THEN m.embed_attempts ELSE 0 END
FROM unnest(%(ids)s::uuid[], %(titles)s::text[], %(contents)s::text[], %(summaries)s::text[])
    AS n (id, title, content, summary)
WHERE m.id = n.id AND (m.title, m.content, m.summary) IS DISTINCT FROM (n.title, n.content, n.summary)
