"""History: what a memory said before, when that changed, why, and by whom."""

from django.db import models
from django.db.models.functions import Now

from omnia.core.ids import uuid7


class Wording(models.Model):
    """An earlier wording of a memory; it goes when the memory goes."""

    class Reason(models.TextChoices):
        MERGED = "high_similarity"
        ABOUT = "structured_key"
        SUPERSEDED = "supersede_many"
        EDITED = "edited"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    memory = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="wordings")
    type = models.CharField(max_length=128)
    content = models.TextField()
    title = models.TextField(null=True)
    summary = models.TextField(null=True)
    consent_category = models.CharField(max_length=64, null=True)
    confidence = models.FloatField()
    said_at = models.DateTimeField()
    replaced_at = models.DateTimeField(db_default=Now())
    reason = models.CharField(max_length=20, choices=Reason.choices)
    actor = models.CharField(max_length=200)

    class Meta:
        db_table = "memories_wording"

    def __str__(self) -> str:
        return str(self.id)
