"""The audit trail: what happened, never what it said.

Append-only: a database trigger refuses every change and removal (reference: Audit). No foreign keys,
so that a row outlives what it speaks of. Subjects stand as keyed hashes, content nowhere.
"""

from django.db import models
from django.db.models.functions import Now

from omnia.core.ids import uuid7


class AuditRow(models.Model):
    """One event, written in the transaction of the change it records."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField(db_default=Now())
    event = models.CharField(max_length=64)
    workspace_id = models.UUIDField(null=True)
    actor = models.CharField(max_length=200)
    subject_hash = models.CharField(max_length=64, default="")
    memory_id = models.UUIDField(null=True)
    request_id = models.CharField(max_length=128, default="")
    ip = models.GenericIPAddressField(null=True)
    user_agent = models.CharField(max_length=200, default="")
    reason = models.CharField(max_length=200, default="")
    metadata = models.JSONField(default=dict)

    class Meta:
        db_table = "omnia_audit"
        indexes = [models.Index(fields=["workspace_id", "-at", "-id"], name="audit_workspace_at")]

    def __str__(self) -> str:
        return f"{self.event} {self.id}"


class AuditSeal(models.Model):
    """One link of the chain over the trail (`omnia.audit.chain`), in the order rows were sealed."""

    seq = models.BigIntegerField(primary_key=True)
    audit_id = models.UUIDField(unique=True)
    digest = models.BinaryField(max_length=32)
    key_id = models.CharField(max_length=8)
    sealed_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "omnia_audit_seal"

    def __str__(self) -> str:
        return str(self.seq)
