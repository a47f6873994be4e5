"""Storage: one model a file."""

from memories.models.conflict import Conflict
from memories.models.document import Document
from memories.models.edge import Edge
from memories.models.embedding_change import EmbeddingChange, EmbeddingCoverage
from memories.models.embedding_model import EmbeddingModel
from memories.models.entity import Entity
from memories.models.erasure import Erasure
from memories.models.maintenance import MaintenanceRun, RetentionCount
from memories.models.memory import Memory
from memories.models.revocation import Revocation
from memories.models.wording import Wording

__all__ = [
    "Conflict",
    "Document",
    "Edge",
    "EmbeddingChange",
    "EmbeddingCoverage",
    "EmbeddingModel",
    "Entity",
    "Erasure",
    "MaintenanceRun",
    "Memory",
    "NextVector",
    "RetentionCount",
    "Revocation",
    "Wording",
]
