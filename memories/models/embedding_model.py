"""The models whose vectors the rows hold. Vectors of two models are never compared."""

from django.db import models
from django.db.models.functions import Now


class EmbeddingModel(models.Model):
    """One embedding model, by the name its embedder gives itself (prefixes and dimension included)."""

    id = models.SmallAutoField(primary_key=True)
    name = models.CharField(max_length=300, unique=True)
    dimensions = models.PositiveSmallIntegerField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "memories_embedding_model"

    def __str__(self) -> str:
        return self.name
