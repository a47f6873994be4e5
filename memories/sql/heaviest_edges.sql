-- The heaviest edges at the {near} end of which a row stands, among the edges of one scope. An edge carries the scope
-- of its two ends, so another user's edges of a shared row are never met, and a row with any number of its own
-- costs no more than `scanned`.
--
-- Parameters: users, agents (the pairs an edge of the scope may carry, '' for none), scanned.
-- Index: edge_out (source_id first) or edge_in (target_id first), read backwards.
SELECT e.* FROM unnest(%(users)s::text[], %(agents)s::text[]) AS whose(user_id, agent_id) CROSS JOIN LATERAL (
    SELECT e.id, e.{far}_id AS far, e.source_id, e.target_id, e.relation_type, e.weight FROM memories_edge e
    WHERE e.{near}_id = {row} AND coalesce(e.user_id, '') = whose.user_id AND coalesce(e.agent_id, '') = whose.agent_id
    ORDER BY e.weight DESC, e.id DESC LIMIT %(scanned)s
) e
