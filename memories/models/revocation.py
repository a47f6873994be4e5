"""A consent a person took back, remembered so that later writes are refused (reference: Consent)."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class Revocation(models.Model):
    """A category a user revoked in a workspace, and when at the latest; it stands until a newer grant."""

    workspace = models.ForeignKey("policies.Workspace", on_delete=models.CASCADE, related_name="+", db_index=False)
    user_id = models.CharField(max_length=253)
    category = models.CharField(max_length=64)
    revoked_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "memories_revocation"
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user_id", "category"], name="revocation_once"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
