"""The floors: what each operation costs as one hand-written statement on the same table.

Nobody is asked for a token, no policy is looked up, nothing is audited and nothing is rendered. The recall
floors rank as a person would write it by hand: cosine and `ts_rank`, 50 deep, fused with k = 60.
"""

from __future__ import annotations

_LIVE = "(expires_at IS NULL OR expires_at > now()) AND (retired_at IS NULL OR retired_at > now())"
_INSTITUTIONAL = "workspace_id = %(workspace)s AND tier = 0"
_AGENT = "workspace_id = %(workspace)s AND tier = 1 AND agent_id = %(agent)s"
_USER = "workspace_id = %(workspace)s AND tier = 2 AND user_id = %(user)s"
_USER_FOR_AGENT = "workspace_id = %(workspace)s AND tier = 3 AND user_id = %(user)s AND agent_id = %(agent)s"
_DISTANCE = "embedding::halfvec(384) <=> %(vector)s::halfvec(384)"


def _scanned(tier: str) -> str:
    return (
        f"SELECT id, embedding <=> %(vector)s::halfvec AS distance,"
        f" CASE WHEN tsv @@ %(words)s::tsquery THEN ts_rank(tsv, %(words)s::tsquery) END AS value"
        f" FROM memories_memory WHERE {tier} AND {_LIVE}"
    )


def _ranked(nearest: str, matching: str) -> str:
    return f"""
, vector_leg AS (
    SELECT row_number() OVER (ORDER BY distance) AS rank, id
    FROM (SELECT id, distance FROM scanned {nearest} ORDER BY distance LIMIT 50) nearest
), text_leg AS (
    SELECT row_number() OVER (ORDER BY value DESC) AS rank, id
    FROM (SELECT id, value FROM scanned WHERE value IS NOT NULL {matching} ORDER BY value DESC LIMIT 50) best
), fused AS (
    SELECT id, sum(1.0 / (60 + rank)) AS rrf
    FROM (SELECT rank, id FROM vector_leg UNION ALL SELECT rank, id FROM text_leg) legs GROUP BY id
)
SELECT m.id, m.title, m.content, m.tier,
    rrf * CASE m.tier WHEN 0 THEN 1.0 WHEN 1 THEN 1.5 ELSE 2.0 END
    * CASE m.tier WHEN 0 THEN 1.0 ELSE
        power(0.5, extract(epoch FROM now() - m.created_at) / 86400 / CASE m.tier WHEN 1 THEN 90 ELSE 30 END) END AS score
FROM fused JOIN memories_memory m USING (id) ORDER BY score DESC LIMIT 10"""


_PRIVATE = " UNION ALL ".join(map(_scanned, (_AGENT, _USER, _USER_FOR_AGENT)))

RECALL = f"WITH scanned AS MATERIALIZED ({_PRIVATE} UNION ALL {_scanned(_INSTITUTIONAL)})" + _ranked("", "")
"""A scope read whole. Parameters: workspace, user, agent, vector, words (tsquery, OR)."""

RECALL_LARGE = f"""WITH scanned AS MATERIALIZED ({_PRIVATE}), shared_near AS MATERIALIZED (
    SELECT id, {_DISTANCE} AS distance FROM memories_memory
    WHERE {_INSTITUTIONAL} AND {_LIVE} AND tier <= 1 AND vector_dims(embedding) = 384 ORDER BY {_DISTANCE} LIMIT 50
), shared_match AS MATERIALIZED (
    SELECT id, ts_rank(tsv, %(rare)s::tsquery) AS value FROM memories_memory
    WHERE tier = 0 AND {_LIVE} AND tsv @@ %(scoped)s::tsquery ORDER BY value DESC LIMIT 50
)""" + _ranked("UNION ALL SELECT id, distance FROM shared_near", "UNION ALL SELECT id, value FROM shared_match")
"""The institutional tier through its indexes. Also: rare (tsquery of the four rarest words), scoped (with the lexeme)."""

SAVE = f"""
WITH near AS MATERIALIZED (
    SELECT id, distance FROM (
        SELECT id, embedding <=> %(vector)s::halfvec AS distance FROM memories_memory
        WHERE {_USER} AND agent_id IS NULL AND evidence_class = 'inferred' AND {_LIVE} OFFSET 0
    ) compared ORDER BY distance LIMIT 5
), merged AS (
    UPDATE memories_memory m SET content = %(content)s, confidence = least(0.99, 1 - (1 - m.confidence) * 0.3)
    FROM (SELECT id FROM near WHERE distance <= 0.05 ORDER BY distance LIMIT 1) closest WHERE m.id = closest.id
    RETURNING m.id
), added AS (
    INSERT INTO memories_memory (id, workspace_id, tier, user_id, type, content, title, metadata, evidence_class,
        source_type, mutability, confidence, evidence_count, access_count, expires_at, embedding, embedding_model_id,
        embed_attempts)
    SELECT %(id)s, %(workspace)s, 2, %(user)s, 'fact', %(content)s, %(title)s, '{{}}', 'inferred',
        'conversation_extraction', 'mutable', 0.7, 1, 0, now() + interval '180 days', %(vector)s::halfvec, %(model)s, 0
    WHERE NOT EXISTS (SELECT FROM merged) RETURNING id
)
SELECT (SELECT id FROM merged), (SELECT id FROM added), (SELECT array_agg(id) FROM near WHERE distance <= 0.15)
"""
"""Merge into the nearest or insert. Parameters: id, workspace, user, title, content, vector, model."""

LIST = f"""
SELECT id, title, content, updated_at FROM memories_memory
WHERE {_USER} AND agent_id IS NULL AND {_LIVE} ORDER BY updated_at DESC, id DESC LIMIT 20
"""
"""The newest rows of a user. Parameters: workspace, user."""
