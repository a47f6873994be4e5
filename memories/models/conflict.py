"""Two sayings of one thing that contradict each other, for a person to look at (design: conflicts)."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from omnia.core.ids import uuid7


class Conflict(models.Model):
    """A memory, and either the earlier wording it replaced or the other memory it stands beside.

    It holds no text of its own. The database deletes it with any of the rows it joins, so that whatever
    deletes a memory need not know of it; hence the constraints are the migration's.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    memory = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="+", db_constraint=False)
    wording = models.ForeignKey(
        "memories.Wording", on_delete=models.CASCADE, related_name="+", null=True, db_constraint=False
    )
    other = models.ForeignKey(
        "memories.Memory", on_delete=models.CASCADE, related_name="+", null=True, db_constraint=False
    )
    kinds = ArrayField(models.CharField(max_length=16))
    found_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "memories_conflict"
        constraints = [
            models.CheckConstraint(
                condition=Q(wording__isnull=False, other__isnull=True) | Q(wording__isnull=True, other__isnull=False),
                name="conflict_with_one",
            ),
            models.CheckConstraint(condition=~Q(kinds=[]), name="conflict_of_a_kind"),
        ]

    def __str__(self) -> str:
        return str(self.id)
