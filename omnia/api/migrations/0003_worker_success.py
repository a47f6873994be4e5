"""When each background task last did its work."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('omnia_api', '0002_idempotency_ids'),
    ]

    operations = [
        migrations.CreateModel(
            name='WorkerSuccess',
            fields=[
                ('name', models.CharField(max_length=100, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
            ],
            options={
                'db_table': 'omnia_worker_success',
            },
        ),
    ]
