"""Maintenance: when it ran, and how many rows it deleted. Numbers only; nothing here says whose or what."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from omnia.core.ids import uuid7


class MaintenanceRun(models.Model):
    """One time the schedule named, run once however many workers were told of it.

    The row is the claim: `holder` works on it until `held_until`, pushes that ahead as it goes, and loses it
    to another worker by doing nothing.
    """

    class Status(models.TextChoices):
        RUNNING = "running"
        OK = "ok"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    due_at = models.DateTimeField(unique=True)
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.RUNNING)
    holder = models.UUIDField()
    held_until = models.DateTimeField()
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "memories_maintenance_run"
        constraints = [
            models.CheckConstraint(condition=Q(status__in=["running", "ok", "failed"]), name="run_status_known"),
        ]

    def __str__(self) -> str:
        return f"{self.due_at} {self.status}"


class RetentionCount(models.Model):
    """How many rows of a tier left a workspace on a day, and why. `run_rows` of them in the run `run_id` names."""

    pk = models.CompositePrimaryKey("workspace_id", "day", "tier", "cause")
    workspace = models.ForeignKey("policies.Workspace", on_delete=models.CASCADE, db_index=False)
    day = models.DateField()
    tier = models.PositiveSmallIntegerField()
    cause = models.CharField(max_length=15)
    rows = models.PositiveBigIntegerField()
    run_id = models.UUIDField(null=True)
    run_rows = models.PositiveBigIntegerField(default=0)

    class Meta:
        db_table = "memories_retention_count"
        constraints = [
            models.CheckConstraint(
                condition=Q(cause__in=["expired", "purged", "consent_revoked"]), name="retention_cause_known"
            ),
            models.CheckConstraint(condition=Q(tier__lte=3), name="retention_tier_known"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.cause} {self.rows}"
