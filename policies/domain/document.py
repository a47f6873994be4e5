"""The typed tree of a MemoryPolicy's `spec`: every field of the spec page, under its own name.

A view for reading, never written back: the raw document is the truth. Ranges stand in the CRD alone;
the defaults here are the spec's, and a test holds them against the CRD's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from omnia.core.scope import Tier
from policies.domain.consolidation_section import Consolidation
from policies.domain.reading import read


@dataclass(frozen=True, slots=True)
class Ttl:
    """Write-time expiry. None: not set."""

    default: timedelta | None = None
    max_age: timedelta | None = None


@dataclass(frozen=True, slots=True)
class CategoryOverride:
    ttl: Ttl | None = None


@dataclass(frozen=True, slots=True)
class TierSpec:
    ttl: Ttl | None = None
    per_category: Mapping[str, CategoryOverride] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tiers:
    """None: the tier is not configured, which differs from `{}` in the SchemaCoverage condition."""

    institutional: TierSpec | None = None
    agent: TierSpec | None = None
    user: TierSpec | None = None


@dataclass(frozen=True, slots=True)
class HalfLife:
    user: timedelta | None = timedelta(days=30)
    agent: timedelta | None = timedelta(days=90)
    institutional: timedelta | None = None


@dataclass(frozen=True, slots=True)
class GraphExpansion:
    enabled: bool = False
    hops: int = 1
    relation_types: tuple[str, ...] = ()
    max_added: int = 10
    weight: float = 0.6


@dataclass(frozen=True, slots=True)
class Recall:
    half_life: HalfLife = HalfLife()
    inline_threshold_bytes: int = 8192
    max_related_per_memory: int = 3
    graph_expansion: GraphExpansion = GraphExpansion()


@dataclass(frozen=True, slots=True)
class EmbeddingSimilarity:
    enabled: bool = True
    auto_supersede_above: float = 0.95
    surface_duplicates_above: float = 0.85
    candidate_limit: int = 5


@dataclass(frozen=True, slots=True)
class Dedup:
    require_about_for_kinds: tuple[str, ...] = ()
    embedding_similarity: EmbeddingSimilarity = EmbeddingSimilarity()


@dataclass(frozen=True, slots=True)
class Write:
    max_body_bytes: int = 8192


@dataclass(frozen=True, slots=True)
class SchemaType:
    name: str
    display_name: str = ""
    description: str = ""
    allowed_tiers: tuple[Tier, ...] = ()


class RelationKind(StrEnum):
    CONTAINMENT = "containment"
    SEQUENCE = "sequence"
    REFERENCE = "reference"
    PROVENANCE = "provenance"
    LOGICAL = "logical"
    ASSOCIATION = "association"
    EQUIVALENCE = "equivalence"


@dataclass(frozen=True, slots=True)
class SchemaRelation:
    name: str
    kind: RelationKind
    inverse: str = ""
    source_types: tuple[str, ...] = ()
    target_types: tuple[str, ...] = ()
    directed: bool = True


@dataclass(frozen=True, slots=True)
class Schema:
    version: str = ""
    types: tuple[SchemaType, ...] = ()
    relations: tuple[SchemaRelation, ...] = ()


@dataclass(frozen=True, slots=True)
class Multiplicative:
    institutional: float = 1.0
    agent: float = 1.0
    user: float = 1.0


@dataclass(frozen=True, slots=True)
class TierPrecedence:
    multiplicative: Multiplicative = Multiplicative()


@dataclass(frozen=True, slots=True)
class Accept:
    user_shares: bool = True
    dreaming: bool = True


@dataclass(frozen=True, slots=True)
class RateLimits:
    max_held_per_subject: int = 200
    max_publishes_per_hour: int = 100


class OnHit(StrEnum):
    FREEZE = "freeze"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Canaries:
    on_hit: OnHit = OnHit.FREEZE
    cleared_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    dedup_threshold: float = 0.95
    allowed_terms: tuple[str, ...] = ()
    min_distinct_subjects: int = 2
    corroboration_window_days: int = 30
    accept: Accept = Accept()
    rate_limits: RateLimits = RateLimits()
    canaries: Canaries = Canaries()


class RevocationAction(StrEnum):
    SOFT_DELETE = "SoftDelete"
    HARD_DELETE = "HardDelete"
    STOP = "Stop"


@dataclass(frozen=True, slots=True)
class ConsentRevocation:
    action: RevocationAction = RevocationAction.SOFT_DELETE


class Strategy(StrEnum):
    CHUNK = "chunk"
    SUMMARY = "summary"
    SUMMARY_THEN_CHUNK = "summaryThenChunk"


class Summarizer(StrEnum):
    EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Both in words."""

    size: int = 200
    overlap: int = 40


@dataclass(frozen=True, slots=True)
class Ingestion:
    """None: not set, the `--ingest-*` flags decide."""

    strategy: Strategy | None = None
    summarizer: Summarizer | None = None
    chunk: Chunk | None = None


@dataclass(frozen=True, slots=True)
class ToolNotes:
    remember: str = ""
    recall: str = ""
    list: str = ""
    forget: str = ""
    open: str = ""


@dataclass(frozen=True, slots=True)
class ToolGuidance:
    notes: str = ""
    tools: ToolNotes = ToolNotes()


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """A whole `spec`. `schema` and `gate` are None when the policy declares none."""

    tiers: Tiers = Tiers()
    recall: Recall = Recall()
    dedup: Dedup = Dedup()
    write: Write = Write()
    schema: Schema | None = None
    tier_precedence: TierPrecedence = TierPrecedence()
    gate: Gate | None = None
    consent_revocation: ConsentRevocation = ConsentRevocation()
    ingestion: Ingestion = Ingestion()
    tool_guidance: ToolGuidance = ToolGuidance()
    consolidation: Consolidation = field(default_factory=Consolidation)


def read_spec(raw: object) -> PolicySpec:
    """The typed view of a `spec` object. Never fails: what cannot be read counts as not set."""
    return read(PolicySpec, raw) if isinstance(raw, Mapping) else PolicySpec()
