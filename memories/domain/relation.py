"""A relation between two memories, as a writer states it (spec: schema.relations)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from omnia.core.errors import BadInput, FieldProblem


@dataclass(frozen=True, slots=True)
class Relation:
    """`source` stands in `relation_type` to `target`; `weight` from 0 to 1 is how much of a score it passes on.

    Raises BadInput `relation_to_itself` for two ends that are one.
    """

    source: UUID
    target: UUID
    relation_type: str
    weight: float = 1.0
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.source == self.target:
            detail = "a memory is not related to itself; name two"
            problem = FieldProblem("/target_id", "relation_to_itself", detail)
            raise BadInput(detail, code="relation_to_itself", errors=[problem])
