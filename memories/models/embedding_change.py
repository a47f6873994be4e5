"""Which embedding models were, are and will be in use, and how far each workspace is (design: embedding-model)."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from omnia.core.ids import uuid7


class EmbeddingChange(models.Model):
    """The turn to a model, described so that it can be built again whatever the environment names by now.

    The latest completed one says what is in use. `slot` is where its vectors stand in a memory's row: 0 for
    `embedding`, 1 for `second_embedding`. `walked_to` is the last memory the running change has been through.
    """

    class Status(models.TextChoices):
        RUNNING = "running"
        COMPLETED = "completed"
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    embedding_model = models.ForeignKey("memories.EmbeddingModel", on_delete=models.PROTECT, related_name="+")
    slot = models.PositiveSmallIntegerField()
    provider = models.CharField(max_length=20)
    url = models.TextField()
    model = models.CharField(max_length=200)
    dimensions = models.PositiveSmallIntegerField()
    query_prefix = models.TextField()
    passage_prefix = models.TextField()
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.RUNNING)
    requested_at = models.DateTimeField(db_default=Now())
    requested_by = models.CharField(max_length=200)
    ended_at = models.DateTimeField(null=True)
    walked_to = models.UUIDField(null=True)

    class Meta:
        db_table = "memories_embedding_change"
        constraints = [
            models.UniqueConstraint(
                fields=["status"], condition=Q(status="running"), name="embedding_change_running_once"
            ),
            models.CheckConstraint(condition=Q(slot__lte=1), name="embedding_change_slot_known"),
            models.CheckConstraint(
                condition=Q(status="running", ended_at__isnull=True)
                | Q(status__in=["completed", "cancelled"], ended_at__isnull=False),
                name="embedding_change_ends",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} ({self.dimensions})"


class EmbeddingCoverage(models.Model):
    """How many of a workspace's memories have the vector they should, as last counted by a worker."""

    workspace = models.OneToOneField("policies.Workspace", primary_key=True, on_delete=models.CASCADE)
    memories = models.PositiveBigIntegerField()
    embedded = models.PositiveBigIntegerField()
    given_up = models.PositiveBigIntegerField()

    class Meta:
        db_table = "memories_embedding_coverage"

    def __str__(self) -> str:
        return f"{self.embedded} of {self.memories}"
