"""Kept answers name the rows they show, so that they go with any of them."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('omnia_api', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='idempotencyrecord',
            name='ids',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None),
        ),
        migrations.AddIndex(
            model_name='idempotencyrecord',
            index=django.contrib.postgres.indexes.GinIndex(fields=['ids'], name='idempotency_ids'),
        ),
    ]
