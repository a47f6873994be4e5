"""The factors of the recall score, from the policy and this installation's settings."""

from __future__ import annotations

from django.conf import settings

from memories.recall.candidates import Weights
from omnia.core.edition import Edition
from omnia.core.scope import Tier
from policies.domain.effective import EffectivePolicy


def weights(policy: EffectivePolicy) -> Weights:
    """What `policy` makes of a row's tier and age. The institutional tier is Enterprise."""
    return Weights(
        k=settings.OMNIA.rrf_k,
        recency_floor=settings.OMNIA.recency_floor,
        tier_weight={tier: policy.tier_weight(tier) for tier in Tier},
        half_life={tier: policy.recall.half_life(tier) for tier in Tier},
        institutional=policy.edition is Edition.ENTERPRISE,
    )
