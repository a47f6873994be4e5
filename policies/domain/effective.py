"""What applies: a policy's fields with every default, flag and edition rule already settled.

The one place where the edition gates (spec: "Enterprise-gated"): in Core each Enterprise section is
replaced by its default here, so no caller asks which edition it runs in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from omnia.config import OmniaConfig
from omnia.core.edition import Edition
from omnia.core.scope import Tier
from policies.domain.consolidation_section import Consolidation
from policies.domain.document import (
    Chunk,
    ConsentRevocation,
    Dedup,
    EmbeddingSimilarity,
    Gate,
    GraphExpansion,
    HalfLife,
    Ingestion,
    Multiplicative,
    PolicySpec,
    Recall,
    TierPrecedence,
    ToolGuidance,
    Write,
)
from policies.domain.expiry import ExpiryRules
from policies.domain.vocabulary import Vocabulary

LOWEST_AUTO_SUPERSEDE = 0.5
"""A stored threshold of this or less is ignored (spec: dedup.embeddingSimilarity)."""


@dataclass(frozen=True, slots=True)
class RecallRules:
    """How recall ranks, previews and expands. The threshold is in bytes of the body."""

    half_lives: HalfLife
    inline_threshold_bytes: int
    max_related_per_memory: int
    graph_expansion: GraphExpansion

    def half_life(self, tier: Tier) -> timedelta | None:
        """The recency half-life of a tier; None: its memories do not fade. A zero fades nothing."""
        match tier:
            case Tier.INSTITUTIONAL:
                span = self.half_lives.institutional
            case Tier.AGENT:
                span = self.half_lives.agent
            case Tier.USER | Tier.USER_FOR_AGENT:
                span = self.half_lives.user
        return span or None


@dataclass(frozen=True, slots=True)
class DedupRules:
    """What a save is compared with, and at which cosine it merges or only reports.

    `guards_merges`: two texts that contradict each other are kept apart (`OMNIA_MERGE_GUARD`).
    """

    require_about_for_kinds: frozenset[str]
    enabled: bool
    auto_supersede_above: float
    surface_duplicates_above: float
    candidate_limit: int
    guards_merges: bool


@dataclass(frozen=True, slots=True)
class IngestionRules:
    """How a document becomes memories; sizes in words."""

    strategy: str
    summarizer: str
    chunk_size: int
    chunk_overlap: int


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """The rules of one service group. `name` is None when no policy applies.

    `gate_declared`: the policy has a gate section, so the workspace is watched by canaries. Without
    one the gate's defaults stand.
    """

    name: str | None
    generation: int
    edition: Edition
    vocabulary: Vocabulary
    expiry: ExpiryRules
    recall: RecallRules
    dedup: DedupRules
    max_body_bytes: int
    weights: Multiplicative
    gate: Gate
    gate_declared: bool
    consent_revocation: ConsentRevocation
    ingestion: IngestionRules
    tool_guidance: ToolGuidance
    consolidation: Consolidation

    def tier_weight(self, tier: Tier) -> float:
        """The ranking multiplier of a tier; `user_for_agent` takes the user's."""
        match tier:
            case Tier.INSTITUTIONAL:
                return self.weights.institutional
            case Tier.AGENT:
                return self.weights.agent
            case Tier.USER | Tier.USER_FOR_AGENT:
                return self.weights.user


def effective_policy(
    spec: PolicySpec | None, *, config: OmniaConfig, name: str | None = None, generation: int = 0
) -> EffectivePolicy:
    """The rules a spec comes to under this installation's flags and edition; None: no policy."""
    used = gated(spec or PolicySpec(), edition=config.edition)
    return EffectivePolicy(
        name=name,
        generation=generation,
        edition=config.edition,
        vocabulary=Vocabulary.of(used.schema),
        expiry=ExpiryRules(tiers=used.tiers, default_ttl=config.default_ttl or None),
        recall=_recall(used.recall),
        dedup=_dedup(used.dedup, config),
        max_body_bytes=used.write.max_body_bytes or Write().max_body_bytes,
        weights=used.tier_precedence.multiplicative,
        gate=used.gate or Gate(),
        gate_declared=used.gate is not None,
        consent_revocation=used.consent_revocation,
        ingestion=_ingestion(used.ingestion, config),
        tool_guidance=used.tool_guidance,
        consolidation=used.consolidation,
    )


def gated(spec: PolicySpec, *, edition: Edition) -> PolicySpec:
    """`spec` as the edition applies it: in Core the Enterprise sections are their defaults."""
    if edition is Edition.ENTERPRISE:
        return spec
    return replace(
        spec,
        tiers=replace(spec.tiers, institutional=None),
        recall=replace(spec.recall, half_life=HalfLife(), graph_expansion=GraphExpansion()),
        tier_precedence=TierPrecedence(),
        gate=None,
        consent_revocation=ConsentRevocation(),
        ingestion=Ingestion(),
        consolidation=Consolidation(),
    )


def _recall(recall: Recall) -> RecallRules:
    return RecallRules(
        half_lives=recall.half_life,
        inline_threshold_bytes=recall.inline_threshold_bytes,
        max_related_per_memory=recall.max_related_per_memory,
        graph_expansion=recall.graph_expansion,
    )


def _dedup(dedup: Dedup, config: OmniaConfig) -> DedupRules:
    similarity, default = dedup.embedding_similarity, EmbeddingSimilarity()
    stated = similarity.auto_supersede_above
    return DedupRules(
        require_about_for_kinds=config.require_about_for_kinds | set(dedup.require_about_for_kinds),
        enabled=similarity.enabled,
        auto_supersede_above=stated if stated > LOWEST_AUTO_SUPERSEDE else default.auto_supersede_above,
        surface_duplicates_above=similarity.surface_duplicates_above,
        candidate_limit=similarity.candidate_limit or default.candidate_limit,
        guards_merges=config.merge_guard,
    )


def _ingestion(ingestion: Ingestion, config: OmniaConfig) -> IngestionRules:
    """Field by field: the policy's, else the `--ingest-*` flag's."""
    flags = config.ingest
    chunk = ingestion.chunk or Chunk(size=flags.chunk_size, overlap=flags.chunk_overlap)
    return IngestionRules(
        strategy=ingestion.strategy or flags.strategy,
        summarizer=ingestion.summarizer or flags.summarizer,
        chunk_size=chunk.size,
        chunk_overlap=chunk.overlap,
    )
