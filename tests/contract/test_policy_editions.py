"""What is Enterprise in a policy, and what Core makes of it: the section's default, never half of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from omnia.config import OmniaConfig
from omnia.core.edition import Edition
from omnia.core.scope import Tier
from tests.contract.policy_documents import ENTERPRISE, effective

CORE = OmniaConfig(edition=Edition.CORE)

ENTERPRISE_SECTIONS: list[dict[str, Any]] = [
    {"tiers": {"institutional": {"ttl": {"default": "1d"}}}},
    {"recall": {"halfLife": {"user": "1d", "agent": "1d", "institutional": "1d"}}},
    {"recall": {"graphExpansion": {"enabled": True, "hops": 2}}},
    {"tierPrecedence": {"multiplicative": {"institutional": "2.0", "agent": "1.5", "user": "0.5"}}},
    {"gate": {"minDistinctSubjects": 7}},
    {"consentRevocation": {"action": "Stop"}},
    {"ingestion": {"strategy": "summary", "chunk": {"size": 100, "overlap": 1}}},
    {"consolidation": {"functionRefs": {"staleObservations": {"name": "pack"}}}},
]

CORE_SECTIONS: list[dict[str, Any]] = [
    {"tiers": {"user": {"ttl": {"default": "1d"}}}},
    {"tiers": {"agent": {"ttl": {"default": "1d", "maxAge": "2d"}}}},
    {"recall": {"inlineThresholdBytes": 1}},
    {"recall": {"maxRelatedPerMemory": 1}},
    {"dedup": {"requireAboutForKinds": ["fact"]}},
    {"dedup": {"embeddingSimilarity": {"enabled": False}}},
    {"write": {"maxBodyBytes": 1}},
    {"schema": {"types": [{"name": "note"}]}},
    {"toolGuidance": {"notes": "Be brief."}},
]


def as_facts(spec: dict[str, Any] | None, config: OmniaConfig) -> dict[str, Any]:
    return asdict(effective(spec, config=config))


@pytest.mark.parametrize("section", ENTERPRISE_SECTIONS)
def test_core_replaces_an_enterprise_section_by_its_default(section: dict[str, Any]) -> None:
    assert as_facts(section, CORE) == as_facts({}, CORE)
    assert as_facts(section, ENTERPRISE) != as_facts({}, ENTERPRISE)


@pytest.mark.parametrize("section", CORE_SECTIONS)
def test_core_applies_the_rest(section: dict[str, Any]) -> None:
    assert as_facts(section, CORE) != as_facts({}, CORE)
    assert as_facts(section, CORE) | {"edition": None} == as_facts(section, ENTERPRISE) | {"edition": None}


def test_core_decays_and_weighs_by_the_defaults() -> None:
    found = effective(ENTERPRISE_SECTIONS[1] | ENTERPRISE_SECTIONS[3], config=CORE)
    assert [found.tier_weight(tier) for tier in Tier] == [1.0] * 4
    assert found.recall.half_life(Tier.INSTITUTIONAL) is None


@pytest.mark.parametrize("config", [CORE, ENTERPRISE])
def test_no_policy_and_an_empty_policy_come_to_the_same(config: OmniaConfig) -> None:
    assert as_facts(None, config) == as_facts({}, config)
