"""What a memory is about: `about{kind, key}`, unique in its scope (reference: Entities)."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from omnia.core.ids import uuid7


class Entity(models.Model):
    """A thing memories are about. `kind` and `key` are folded (NFC, trimmed, lower case)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey("policies.Workspace", on_delete=models.PROTECT, db_index=False)
    user_id = models.CharField(max_length=253, null=True)
    agent_id = models.CharField(max_length=253, null=True)
    kind = models.CharField(max_length=128)
    key = models.CharField(max_length=512)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "memories_entity"
        verbose_name_plural = "entities"
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "user_id", "agent_id", "kind", "key"],
                name="entity_unique_in_scope",
                nulls_distinct=False,
            ),
            models.CheckConstraint(condition=~Q(user_id="") & ~Q(agent_id=""), name="entity_scope_not_empty"),
            models.CheckConstraint(condition=~Q(kind="") & ~Q(key=""), name="entity_key_not_empty"),
        ]

    def __str__(self) -> str:
        return str(self.id)
