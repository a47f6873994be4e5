"""The erasure of a person: the order to do it, how far it is, and afterwards its certificate."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from omnia.core.ids import uuid7


class Erasure(models.Model):
    """While it runs it names the person; when it is done only their keyed hash stays, for restored backups.

    `workspace_id` null: everywhere. `before`, in a replay: what was made later is the person's who came back.
    """

    class Status(models.TextChoices):
        RUNNING = "running"
        ERASED = "erased", "erased, its traces in the database's files not yet"
        COMPLETED = "completed"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace_id = models.UUIDField(null=True)
    subject = models.CharField(max_length=253, null=True)
    subject_hash = models.CharField(max_length=64)
    before = models.DateTimeField(null=True)
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.RUNNING)
    removed = models.JSONField(default=dict)
    requested_at = models.DateTimeField(db_default=Now())
    requested_by = models.CharField(max_length=200)
    erased_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "memories_erasure"
        constraints = [
            models.CheckConstraint(
                condition=Q(status="running", subject__isnull=False, erased_at__isnull=True)
                | Q(~Q(status="running"), subject__isnull=True, erased_at__isnull=False),
                name="erasure_forgets_whom",
            ),
            models.UniqueConstraint(
                fields=["subject_hash", "workspace_id"],
                condition=Q(status="running"),
                name="erasure_running_once",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)
