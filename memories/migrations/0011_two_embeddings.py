"""Room for the vectors of two models on a memory's row.

The second column is stored inline while the row fits a page: with two vectors of 2,000 numbers it does not. The
indexes of the shared tiers over it are made when a change of the model needs one.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
import omnia.core.ids
import pgvector.django.halfvec
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memories', '0010_embedding_change'),
        ('policies', '0001_initial'),
    ]

    operations = [
        migrations.DeleteModel(name='NextVector'),
        migrations.DeleteModel(name='EmbeddingChange'),
        migrations.CreateModel(
            name='EmbeddingChange',
            fields=[
                ('id', models.UUIDField(default=omnia.core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('embedding_model', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memories.embeddingmodel')),
                ('slot', models.PositiveSmallIntegerField()),
                ('provider', models.CharField(max_length=20)),
                ('url', models.TextField()),
                ('model', models.CharField(max_length=200)),
                ('dimensions', models.PositiveSmallIntegerField()),
                ('query_prefix', models.TextField()),
                ('passage_prefix', models.TextField()),
                ('status', models.CharField(choices=[('running', 'Running'), ('completed', 'Completed'), ('cancelled', 'Cancelled')], default='running', max_length=9)),
                ('requested_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('requested_by', models.CharField(max_length=200)),
                ('ended_at', models.DateTimeField(null=True)),
                ('walked_to', models.UUIDField(null=True)),
            ],
            options={
                'db_table': 'memories_embedding_change',
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('status', 'running')), fields=('status',), name='embedding_change_running_once'),
                    models.CheckConstraint(condition=models.Q(('slot__lte', 1)), name='embedding_change_slot_known'),
                    models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('status', 'running')), models.Q(('ended_at__isnull', False), ('status__in', ['completed', 'cancelled'])), _connector='OR'), name='embedding_change_ends'),
                ],
            },
        ),
        migrations.CreateModel(
            name='EmbeddingCoverage',
            fields=[
                ('workspace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='policies.workspace')),
                ('memories', models.PositiveBigIntegerField()),
                ('embedded', models.PositiveBigIntegerField()),
                ('given_up', models.PositiveBigIntegerField()),
            ],
            options={
                'db_table': 'memories_embedding_coverage',
            },
        ),
        migrations.AddField(
            model_name='memory',
            name='second_embedding',
            field=pgvector.django.halfvec.HalfVectorField(null=True),
        ),
        migrations.AddField(
            model_name='memory',
            name='second_embedding_model',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='memories.embeddingmodel'),
        ),
        migrations.AddConstraint(
            model_name='memory',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('second_embedding__isnull', True), ('second_embedding_model__isnull', True)), models.Q(('second_embedding__isnull', False), ('second_embedding_model__isnull', False)), _connector='OR'), name='memory_second_vector_has_a_model'),
        ),
        migrations.RunSQL("ALTER TABLE memories_memory ALTER COLUMN second_embedding SET STORAGE MAIN", migrations.RunSQL.noop),
    ]
