"""The spec's two example policies, applied as an operator applies them."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from omnia.core.edition import Edition
from omnia.core.scope import Tier
from policies.models import MemoryPolicy
from policies.services.resolve import clear_cache, policy_for
from policies.services.workspaces import create_workspace
from tests.contract.policy_documents import NOW, bound, workspace
from tests.integration.policies.actors import OPERATOR

pytestmark = pytest.mark.django_db

MINIMAL = """\
apiVersion: omnia.altairalabs.ai/v1alpha1
kind: MemoryPolicy
metadata:
  name: basic
spec:
  tiers:
    user:
      ttl:
        default: "180d"
"""
FULL = """\
apiVersion: omnia.altairalabs.ai/v1alpha1
kind: MemoryPolicy
metadata:
  name: research
spec:
  tiers:
    agent:
      ttl:
        default: "365d"
    user:
      ttl:
        default: "180d"
        maxAge: "365d"
      perCategory:
        memory:health:
          ttl:
            default: "30d"
  recall:
    halfLife:                           # Enterprise
      user: "720h"
      agent: "1440h"
      institutional: "8760h"
    inlineThresholdBytes: 2048
    maxRelatedPerMemory: 3
  dedup:
    requireAboutForKinds:
      - fact
      - preference
    embeddingSimilarity:
      enabled: true
      autoSupersedeAbove: "0.95"
      surfaceDuplicatesAbove: "0.85"
  tierPrecedence:                       # Enterprise
    multiplicative:
      institutional: "2.0"
      agent: "1.5"
      user: "1.0"
  consentRevocation:
    action: HardDelete
  ingestion:                           # Enterprise
    strategy: summaryThenChunk
    summarizer: extractive
    chunk:
      size: 200
      overlap: 40
"""


def apply(folder: Path, text: str) -> str:
    file, out = folder / "policies.yaml", StringIO()
    file.write_text(text, encoding="utf-8")
    call_command("policy", "apply", str(file), stdout=out)
    return out.getvalue()


def test_both_examples_apply_and_apply_again(tmp_path: Path) -> None:
    text = f"{MINIMAL}---\n{FULL}"
    assert apply(tmp_path, text) == "memorypolicy/basic created\nmemorypolicy/research created\n"
    assert apply(tmp_path, text) == "memorypolicy/basic unchanged\nmemorypolicy/research unchanged\n"
    assert apply(tmp_path, MINIMAL.replace("180d", "90d")) == "memorypolicy/basic configured\n"
    phases = MemoryPolicy.objects.order_by("name").values_list("name", "phase", "generation", "observed_generation")
    assert list(phases) == [("basic", "Active", 2, 2), ("research", "Active", 1, 1)]


def test_the_full_example_is_stored_as_it_was_written_and_applies_where_it_is_bound(
    tmp_path: Path, settings: Any
) -> None:
    settings.OMNIA = replace(settings.OMNIA, edition=Edition.ENTERPRISE)
    apply(tmp_path, FULL)
    row = create_workspace(workspace(bound("research")), actor=OPERATOR, now=NOW)
    clear_cache()
    found = policy_for(row.uid, service_group="default")
    assert MemoryPolicy.objects.get().spec["ingestion"]["chunk"] == {"size": 200, "overlap": 40}
    assert (found.name, found.generation) == ("research", 1)
    assert found.recall.inline_threshold_bytes == 2048
    assert found.tier_weight(Tier.INSTITUTIONAL) == 2.0
    assert found.dedup.require_about_for_kinds == {"fact", "preference"}
    assert found.consent_revocation.action == "HardDelete"
    health = found.expiry.resolve(tier=Tier.USER, category="memory:health", explicit=None, now=NOW)
    assert health is not None
    assert (health - NOW).days == 30
