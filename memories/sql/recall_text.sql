-- The value of each word mask, for both recall statements: a word weighs ln(1 + (n - c + 0.5) / (c + 0.5)) where c of
-- the n rows hold it, and a mask is worth its words. Masks are few, so this costs nothing per row.
weight AS MATERIALIZED (
    SELECT slot, ln(1 + (n - c + 0.5) / (c + 0.5)) AS weight
    FROM total, (
        SELECT slot, coalesce(sum(rows) FILTER (WHERE mask >> slot & 1 = 1), 0) AS c
        FROM generate_series(0, {last_slot}) slot CROSS JOIN masks GROUP BY slot
    ) frequency
), text_value AS MATERIALIZED (
    SELECT mask, sum(weight) AS value FROM masks JOIN weight ON mask >> slot & 1 = 1 GROUP BY mask
)
