"""Since when a memory says what it says: other changes move `updated_at` too."""

from django.db import migrations, models

KNOWN = """
UPDATE memories_memory m SET worded_at = said.since
FROM (SELECT memory_id, max(replaced_at) AS since FROM memories_wording GROUP BY memory_id) said
WHERE said.memory_id = m.id
"""


class Migration(migrations.Migration):

    dependencies = [
        ('memories', '0008_maintenance'),
    ]

    operations = [
        migrations.AddField(
            model_name='memory',
            name='worded_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.RunSQL(KNOWN, migrations.RunSQL.noop),
    ]
