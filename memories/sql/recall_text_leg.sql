-- The text leg: the best rows by the value of their words; of equals the one that says more.
text_leg AS (
    SELECT id, value, row_number() OVER (ORDER BY value DESC, words DESC, id DESC) AS rank
    FROM (
        SELECT id, value, words FROM visible JOIN text_value USING (mask)
        ORDER BY value DESC, words DESC, id DESC LIMIT %(depth)s
    ) best
)
