"""The change to another embedding model: the order, and the vectors that wait for it (design: embedding-model)."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from pgvector.django import HalfVectorField

from omnia.core.ids import uuid7


class EmbeddingChange(models.Model):
    """From what the environment names (`replaces_*`) to another model of the same provider.

    The latest completed one holds as long as the environment still names what it replaced.
    """

    class Status(models.TextChoices):
        RUNNING = "running"
        COMPLETED = "completed"
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    model = models.CharField(max_length=200)
    dimensions = models.PositiveSmallIntegerField()
    replaces_model = models.CharField(max_length=200)
    replaces_dimensions = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.RUNNING)
    requested_at = models.DateTimeField(db_default=Now())
    requested_by = models.CharField(max_length=200)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "memories_embedding_change"
        constraints = [
            models.UniqueConstraint(
                fields=["status"], condition=Q(status="running"), name="embedding_change_running_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} ({self.dimensions})"


class NextVector(models.Model):
    """The vector a memory will have; NULL for a text the new model gives none. `said` is what it stands for, hashed."""

    memory = models.OneToOneField(
        "memories.Memory", primary_key=True, on_delete=models.CASCADE, related_name="+", db_constraint=False
    )
    embedding = HalfVectorField(null=True)
    said = models.CharField(max_length=32)

    class Meta:
        db_table = "memories_next_vector"

    def __str__(self) -> str:
        return str(self.pk)
