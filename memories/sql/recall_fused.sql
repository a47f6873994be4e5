-- The tail every recall statement shares: fuse the legs, apply the factors, fetch the best rows whole.
, fused AS (
    SELECT id, v.rank AS vector_rank, v.distance, t.rank AS text_rank, t.value AS text_value,
        coalesce(v.tier, t.tier) AS tier, coalesce(v.source_type, t.source_type) AS source_type,
        coalesce(v.confidence, t.confidence) AS confidence, coalesce(v.said, t.said) AS said,
        coalesce(1.0::float8 / (%(k)s::int + v.rank), 0) + coalesce(1.0::float8 / (%(k)s::int + t.rank), 0) AS rrf
    FROM vector_leg v FULL JOIN text_leg t USING (id)
), factors AS (
    SELECT *, ({source_weight})::float8 AS source_weight,
        CASE tier WHEN 0 THEN %(t_institutional)s::float8 WHEN 1 THEN %(t_agent)s::float8 ELSE %(t_user)s::float8 END
            AS tier_weight,
        -- Without a half-life the quotient is NULL, and the recency 1; least() would skip that NULL.
        coalesce(%(floor)s::float8 + (1 - %(floor)s::float8) * power(2.0::float8, -least(1000 * half_life, greatest(0,
            extract(epoch FROM %(now)s::timestamptz - said)::float8)) / half_life), 1.0) AS recency
    FROM fused f, LATERAL (
        SELECT CASE tier WHEN 0 THEN %(h_institutional)s::float8 WHEN 1 THEN %(h_agent)s::float8 ELSE %(h_user)s::float8 END
            AS half_life
    ) fading
), ranked AS (
    SELECT id, rrf, vector_rank, 1 - distance AS vector_value, text_rank, text_value, source_weight, recency, tier_weight,
        rrf * source_weight * confidence * recency * tier_weight AS score, count(*) OVER () AS total
    FROM factors ORDER BY score DESC, id DESC LIMIT %(limit)s OFFSET %(offset)s
)
SELECT {select}, r.* FROM ranked r JOIN memories_memory m USING (id) LEFT JOIN memories_entity e ON e.id = m.entity_id
ORDER BY r.score DESC, r.id DESC
