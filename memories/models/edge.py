"""A typed link between two memories (spec: schema.relations)."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from omnia.core.ids import uuid7


class Edge(models.Model):
    """One relation, stored in one direction; recall walks it in both."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey("policies.Workspace", on_delete=models.PROTECT, db_index=False)
    source = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="edges_out", db_index=False)
    target = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="edges_in")
    relation_type = models.CharField(max_length=128)
    weight = models.FloatField(default=1.0)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "memories_edge"
        constraints = [
            models.UniqueConstraint(fields=["source", "target", "relation_type"], name="edge_once"),
            models.CheckConstraint(condition=Q(weight__gte=0, weight__lte=1), name="edge_weight_unit"),
            models.CheckConstraint(condition=~Q(source=F("target")), name="edge_not_a_loop"),
            models.CheckConstraint(condition=~Q(relation_type=""), name="edge_type_not_empty"),
        ]

    def __str__(self) -> str:
        return str(self.id)
