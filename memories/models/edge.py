"""A typed link between two memories (spec: schema.relations)."""

from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce, Now

from omnia.core.ids import uuid7

_WHOSE = (Coalesce("user_id", Value("")), Coalesce("agent_id", Value("")))


class Edge(models.Model):
    """One relation, stored in one direction; recall walks it in both.

    An edge has the scope of its two ends together: the database fills `user_id` and `agent_id`, refuses ends of
    two workspaces or two users, and deletes an edge with either end. So a walk finds the caller's own edges of a
    row by index, however many others have there.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey("policies.Workspace", on_delete=models.PROTECT, db_index=False)
    source = models.ForeignKey(
        "memories.Memory", on_delete=models.CASCADE, related_name="edges_out", db_index=False, db_constraint=False
    )
    target = models.ForeignKey(
        "memories.Memory", on_delete=models.CASCADE, related_name="edges_in", db_index=False, db_constraint=False
    )
    user_id = models.CharField(max_length=253, null=True, editable=False)
    agent_id = models.CharField(max_length=253, null=True, editable=False)
    relation_type = models.CharField(max_length=128)
    weight = models.FloatField(default=1.0)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "memories_edge"
        indexes = [
            models.Index("source", *_WHOSE, "weight", "id", name="edge_out"),
            models.Index("target", *_WHOSE, "weight", "id", name="edge_in"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["source", "target", "relation_type"], name="edge_once"),
            models.CheckConstraint(condition=Q(weight__gte=0, weight__lte=1), name="edge_weight_unit"),
            models.CheckConstraint(condition=~Q(source=F("target")), name="edge_not_a_loop"),
            models.CheckConstraint(condition=~Q(relation_type=""), name="edge_type_not_empty"),
        ]

    def __str__(self) -> str:
        return str(self.id)
