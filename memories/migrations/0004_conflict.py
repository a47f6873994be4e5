"""Conflicts, which the database deletes with the rows they join."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import omnia.core.ids
from django.db import migrations, models


def _cascades(column: str, table: str) -> migrations.RunSQL:
    """Django knows no ON DELETE CASCADE in the database before version 6.1."""
    name = f"conflict_{column}_goes"
    return migrations.RunSQL(
        f"ALTER TABLE memories_conflict ADD CONSTRAINT {name} FOREIGN KEY ({column}_id) REFERENCES {table} (id)"
        " ON DELETE CASCADE",
        f"ALTER TABLE memories_conflict DROP CONSTRAINT {name}",
    )


class Migration(migrations.Migration):

    dependencies = [
        ('memories', '0003_edge_scope'),
    ]

    operations = [
        migrations.CreateModel(
            name='Conflict',
            fields=[
                ('id', models.UUIDField(default=omnia.core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('kinds', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=16), size=None)),
                ('found_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('memory', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memories.memory')),
                ('other', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memories.memory')),
                ('wording', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memories.wording')),
            ],
            options={
                'db_table': 'memories_conflict',
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('other__isnull', True), ('wording__isnull', False)), models.Q(('other__isnull', False), ('wording__isnull', True)), _connector='OR'), name='conflict_with_one'), models.CheckConstraint(condition=models.Q(('kinds', []), _negated=True), name='conflict_of_a_kind')],
            },
        ),
        _cascades("memory", "memories_memory"),
        _cascades("other", "memories_memory"),
        _cascades("wording", "memories_wording"),
    ]
