-- The text leg: the best rows by the value of their words; of equals the one that says more.
text_leg AS (
    SELECT *, row_number() OVER (ORDER BY value DESC, words DESC, id DESC) AS rank
    FROM (
        SELECT id, tier, source_type, confidence, said, value, words FROM visible JOIN text_value USING (mask)
        ORDER BY value DESC, words DESC, id DESC LIMIT %(depth)s
    ) best
)
