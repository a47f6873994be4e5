"""A document that was ingested: the key by which handing it in again replaces it (spec: ingestion)."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from omnia.core.ids import uuid7


class Document(models.Model):
    """What is known of a document as a whole; its memories name it in `Memory.document`.

    The memories point here, and not the other way round, so that the end of any of them (forgotten and
    purged, expired) leaves the document intact. It goes with the last of them.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey("policies.Workspace", on_delete=models.PROTECT, db_index=False)
    key = models.CharField(max_length=2048)
    title = models.CharField(max_length=1024, null=True)
    url = models.CharField(max_length=2048, null=True)
    site = models.CharField(max_length=253, null=True)
    sections = models.PositiveIntegerField(default=0)
    items = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "memories_document"
        indexes = [models.Index(fields=["workspace", "-updated_at", "-id"], name="document_newest")]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "key"], name="document_once"),
            models.CheckConstraint(condition=~Q(key=""), name="document_key_not_empty"),
        ]

    def __str__(self) -> str:
        return str(self.id)
