"""Provenance: who stands behind a memory, and what that is worth in a recall (design: the memory object)."""

from __future__ import annotations

from dataclasses import dataclass

EXPLICIT, CURATED, INFERRED = "explicit", "curated", "inferred"


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a writer may claim, and what the store makes of it."""

    evidence_class: str
    source_type: str


PROVENANCE = {
    "user_requested": Provenance(EXPLICIT, "user_requested"),
    "operator_curated": Provenance(CURATED, "operator_curated"),
    "agent_extracted": Provenance(INFERRED, "conversation_extraction"),
    "system_generated": Provenance(INFERRED, "system_generated"),
}
DEFAULT_PROVENANCE = "agent_extracted"

PROVENANCE_OF = {known.source_type: name for name, known in PROVENANCE.items()}
"""What a writer claimed, by the source type the store made of it; the server's own types are claimed by nobody."""

SOURCE_WEIGHT = {
    "user_requested": 1.0,
    "operator_curated": 1.0,
    "conversation_extraction": 0.7,
    "system_generated": 0.5,
    "temporal_summary": 0.7,
    "ai_summary": 0.7,
    "document": 1.0,
    "gate": 1.0,
}
"""The recall weight of each source type, the server's own included."""
