-- One step of the walk from the row {row}: its heaviest edges, both ways, to rows that pass like any other of the recall.
SELECT f.* FROM ({outgoing} UNION ALL {incoming}) f JOIN memories_memory m ON m.id = f.far
WHERE (%(relation_types)s::text[] IS NULL OR f.relation_type = ANY(%(relation_types)s::text[]))
    AND m.id <> ALL(%(seeds)s::uuid[]) AND {visible} AND {passing}
ORDER BY f.weight DESC, f.id DESC LIMIT %(max_added)s
