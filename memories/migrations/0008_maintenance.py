"""Runs and numbers of maintenance; the trash has an index of its own, which what was superseded does not lengthen."""

import django.db.models.deletion
import django.db.models.functions.datetime
import omnia.core.ids
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memories', '0007_erasure'),
        ('policies', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='MaintenanceRun',
            fields=[
                ('id', models.UUIDField(default=omnia.core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('due_at', models.DateTimeField(unique=True)),
                ('status', models.CharField(choices=[('running', 'Running'), ('ok', 'Ok'), ('failed', 'Failed')], default='running', max_length=7)),
                ('holder', models.UUIDField()),
                ('held_until', models.DateTimeField()),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('finished_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'memories_maintenance_run',
            },
        ),
        migrations.CreateModel(
            name='RetentionCount',
            fields=[
                ('pk', models.CompositePrimaryKey('workspace_id', 'day', 'tier', 'cause', blank=True, editable=False, primary_key=True, serialize=False)),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='policies.workspace')),
                ('day', models.DateField()),
                ('tier', models.PositiveSmallIntegerField()),
                ('cause', models.CharField(max_length=15)),
                ('rows', models.PositiveBigIntegerField()),
                ('run_id', models.UUIDField(null=True)),
                ('run_rows', models.PositiveBigIntegerField(default=0)),
            ],
            options={
                'db_table': 'memories_retention_count',
            },
        ),
        migrations.RemoveIndex(
            model_name='memory',
            name='memory_retired',
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('retired_as', 'forgotten')), fields=['retired_at'], name='memory_trash'),
        ),
        migrations.AddConstraint(
            model_name='maintenancerun',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['running', 'ok', 'failed'])), name='run_status_known'),
        ),
        migrations.AddConstraint(
            model_name='retentioncount',
            constraint=models.CheckConstraint(condition=models.Q(('cause__in', ['expired', 'purged', 'consent_revoked'])), name='retention_cause_known'),
        ),
        migrations.AddConstraint(
            model_name='retentioncount',
            constraint=models.CheckConstraint(condition=models.Q(('tier__lte', 3)), name='retention_tier_known'),
        ),
    ]
