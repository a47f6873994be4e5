"""The schema every workspace starts with, before a policy declares one (spec: The built-in schema)."""

from __future__ import annotations

from omnia.core.scope import Tier
from policies.domain.document import RelationKind, Schema, SchemaRelation, SchemaType

_PERSONAL = (Tier.USER, Tier.USER_FOR_AGENT, Tier.AGENT)

BUILTIN = Schema(
    version="builtin.v1",
    types=(
        *(SchemaType(name=name, allowed_tiers=(Tier.INSTITUTIONAL,)) for name in ("document", "section", "chunk")),
        *(SchemaType(name=name) for name in ("general", "fact")),
        *(SchemaType(name=name, allowed_tiers=_PERSONAL) for name in ("preference", "observation", "temporal_summary")),
    ),
    relations=(
        SchemaRelation(
            name="part_of",
            kind=RelationKind.CONTAINMENT,
            inverse="contains",
            source_types=("section", "chunk"),
            target_types=("document", "section"),
        ),
        SchemaRelation(
            name="next",
            kind=RelationKind.SEQUENCE,
            inverse="previous",
            source_types=("section", "chunk"),
            target_types=("section", "chunk"),
        ),
    ),
)
