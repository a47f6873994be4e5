"""The Celery application. A message is a hint to look; the rows are the queue."""

import os

from celery import Celery

from omnia.schedule import SCHEDULE

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omnia.settings")
app = Celery("omnia")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = SCHEDULE
app.autodiscover_tasks()
