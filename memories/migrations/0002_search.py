"""The two ways a memory is found, in SQL, because the plan is the point (design: performance).

- `embedding` is stored plain: a vector moved to the side table costs two to three times a scan.
- `tsv` weighs the title above the body and carries a scope lexeme, so that the index over the shared
  tiers answers one workspace at a time. It reads the first 128 Ki characters of a body: PostgreSQL
  refuses a text-search vector above 1 MiB.
- Private tiers have no approximate index: their scope is scanned exactly. The shared tiers have one
  per common dimension; another dimension is scanned exactly until an index for it is added here.
"""

from django.db import migrations

DIMENSIONS = (256, 384, 512, 768, 1024, 1536)

TSV = """
ALTER TABLE memories_memory ADD COLUMN tsv tsvector NOT NULL GENERATED ALWAYS AS (
    setweight(to_tsvector('english', left(coalesce(title, ''), 8192)), 'A')
    || setweight(to_tsvector('english', left(content, 131072)), 'B')
    || array_to_tsvector(ARRAY['§' || workspace_id::text || '.' || tier::text])
) STORED
"""


def _vector_index(dimensions: int) -> migrations.RunSQL:
    name = f"memory_shared_vector_{dimensions}"
    return migrations.RunSQL(
        f"CREATE INDEX {name} ON memories_memory USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops)"
        f" WHERE tier <= 1 AND vector_dims(embedding) = {dimensions}",
        f"DROP INDEX {name}",
    )


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_initial")]

    operations = [
        migrations.RunSQL("ALTER TABLE memories_memory ALTER COLUMN embedding SET STORAGE PLAIN", migrations.RunSQL.noop),
        migrations.RunSQL(TSV, "ALTER TABLE memories_memory DROP COLUMN tsv"),
        migrations.RunSQL(
            "CREATE INDEX memory_shared_text ON memories_memory USING gin (tsv) WHERE tier <= 1",
            "DROP INDEX memory_shared_text",
        ),
        *(_vector_index(dimensions) for dimensions in DIMENSIONS),
    ]
