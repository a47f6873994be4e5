"""The spec's field tables, section by section: what a field left out comes to, and what a field set does."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from omnia.config import IngestConfig, OmniaConfig
from omnia.core.edition import Edition
from omnia.core.scope import Tier
from policies.domain.document import RelationKind, read_spec
from policies.domain.effective import effective_policy
from tests.contract.policy_documents import ENTERPRISE, NOW, admitted, effective, problems

DAY = timedelta(days=1)

# --- recall -------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [None, {}, {"recall": {}}, {"recall": {"halfLife": {}, "graphExpansion": {}}}])
def test_recall_defaults(spec: dict[str, Any] | None) -> None:
    recall = effective(spec).recall
    assert recall.inline_threshold_bytes == 8192
    assert recall.max_related_per_memory == 3
    assert [recall.half_life(tier) for tier in Tier] == [None, 90 * DAY, 30 * DAY, 30 * DAY]
    assert asdict(recall.graph_expansion) == {
        "enabled": False,
        "hops": 1,
        "relation_types": (),
        "max_added": 10,
        "weight": 0.6,
    }


HALF_LIVES = [
    # user, agent, institutional; in effect for institutional, agent, user, user_for_agent
    ({"user": "720h"}, [None, 90 * DAY, 30 * DAY, 30 * DAY]),
    ({"user": "7d", "institutional": "365d"}, [365 * DAY, 90 * DAY, 7 * DAY, 7 * DAY]),
    ({"agent": "1440h"}, [None, 60 * DAY, 30 * DAY, 30 * DAY]),
    ({"user": "", "agent": "", "institutional": ""}, [None, 90 * DAY, 30 * DAY, 30 * DAY]),
    ({"user": "0s", "agent": "0d"}, [None, None, None, None]),
]


@pytest.mark.parametrize(("half_life", "expected"), HALF_LIVES)
def test_half_life_per_tier(half_life: dict[str, str], expected: list[timedelta | None]) -> None:
    recall = effective({"recall": {"halfLife": half_life}}).recall
    assert [recall.half_life(tier) for tier in Tier] == expected


@pytest.mark.parametrize("nonsense", ["garbage", "7 days", "-1d", "9" * 400 + "d", 7, None, [], {}])
def test_a_duration_that_cannot_be_read_counts_as_not_set(nonsense: Any) -> None:
    half_life = {"user": nonsense, "agent": nonsense, "institutional": nonsense}
    ttl = {"default": nonsense, "maxAge": nonsense}
    stored = read_spec({"tiers": {"user": {"ttl": ttl}}, "recall": {"halfLife": half_life}})
    found = effective_policy(stored, config=ENTERPRISE)
    assert [found.recall.half_life(tier) for tier in Tier] == [None, 90 * DAY, 30 * DAY, 30 * DAY]
    assert found.expiry.resolve(tier=Tier.USER, category=None, explicit=None, now=NOW) is None
    assert found.expiry.cap(None, tier=Tier.USER, category=None, now=NOW) is None


def test_zero_previews_everything_and_relates_nothing() -> None:
    recall = effective({"recall": {"inlineThresholdBytes": 0, "maxRelatedPerMemory": 0}}).recall
    assert (recall.inline_threshold_bytes, recall.max_related_per_memory) == (0, 0)


def test_graph_expansion() -> None:
    stated = {"enabled": True, "hops": 2, "relationTypes": ["part_of"], "maxAdded": 20, "weight": "0.5"}
    found = effective({"recall": {"graphExpansion": stated}}).recall.graph_expansion
    assert (found.enabled, found.hops, found.relation_types) == (True, 2, ("part_of",))
    assert (found.max_added, found.weight) == (20, 0.5)


# --- dedup --------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [None, {}, {"dedup": {}}, {"dedup": {"embeddingSimilarity": {}}}])
def test_dedup_defaults(spec: dict[str, Any] | None) -> None:
    dedup = effective(spec).dedup
    assert (dedup.enabled, dedup.candidate_limit) == (True, 5)
    assert (dedup.auto_supersede_above, dedup.surface_duplicates_above) == (0.95, 0.85)
    assert dedup.require_about_for_kinds == frozenset()


@pytest.mark.parametrize(
    ("flag", "stated", "union"),
    [
        ([], [], []),
        (["fact"], [], ["fact"]),
        ([], ["preference"], ["preference"]),
        (["fact"], ["preference"], ["fact", "preference"]),
        (["fact"], ["fact"], ["fact"]),
    ],
)
def test_the_kinds_that_need_about_are_the_flags_and_the_policys(
    flag: list[str], stated: list[str], union: list[str]
) -> None:
    config = OmniaConfig(require_about_for_kinds=frozenset(flag))
    found = effective({"dedup": {"requireAboutForKinds": stated}}, config=config)
    assert found.dedup.require_about_for_kinds == set(union)


AUTO_SUPERSEDE = [
    ("0.5", None),
    ("0.5000001", 0.5000001),
    (".95", None),
    ("0.950", 0.95),
    (" 0.95", None),
    ("९.५", None),
    ("NaN", None),
    ("1.0", 1.0),
    ("1.01", None),
    ("0.4", None),
    ("0", None),
]


@pytest.mark.parametrize(("text", "threshold"), AUTO_SUPERSEDE)
def test_auto_supersede_above_is_a_decimal_above_a_half_and_at_most_one(text: str, threshold: float | None) -> None:
    spec = {"dedup": {"embeddingSimilarity": {"autoSupersedeAbove": text}}}
    if threshold is None:
        assert list(problems(spec)) == ["/spec/dedup/embeddingSimilarity/autoSupersedeAbove"]
    else:
        assert effective(spec).dedup.auto_supersede_above == threshold


THRESHOLDS = [
    ("0.95", "0.85", True),
    ("0.95", "0.949999", True),
    ("0.9", "0.9", False),
    ("0.8", "0.85", False),
    ("0.8", None, True),  # below the effective 0.85: every match merges
    (None, "0.99", True),
    (None, None, True),
]


@pytest.mark.parametrize(("auto", "surface", "taken"), THRESHOLDS)
def test_surface_must_be_strictly_less_than_auto_when_both_are_set(
    auto: str | None, surface: str | None, taken: bool
) -> None:
    stated = {"autoSupersedeAbove": auto, "surfaceDuplicatesAbove": surface}
    found = problems({"dedup": {"embeddingSimilarity": stated}})
    broken = {"/spec/dedup/embeddingSimilarity/surfaceDuplicatesAbove": "rule_violated"}
    assert found == ({} if taken else broken)


def similarity(**fields: Any) -> dict[str, Any]:
    return {"dedup": {"embeddingSimilarity": fields}}


LEGACY = similarity(autoSupersedeAbove="0.4")
UPDATES = [
    (LEGACY | {"write": {"maxBodyBytes": 100}}, True),
    (LEGACY, True),
    (similarity(autoSupersedeAbove="0.4", candidateLimit=7), True),
    (similarity(autoSupersedeAbove="0.45"), False),
    (similarity(autoSupersedeAbove="0.40"), False),
    (similarity(autoSupersedeAbove="0.6"), True),
    (similarity(), True),
]


@pytest.mark.parametrize(("update", "taken"), UPDATES)
def test_a_policy_that_holds_a_low_threshold_stays_editable_while_it_is_unchanged(
    update: dict[str, Any], taken: bool
) -> None:
    assert (problems(update, stored={"tiers": {}, **LEGACY}) == {}) == taken


def test_a_low_threshold_is_refused_where_there_was_none() -> None:
    assert problems(LEGACY, stored={"tiers": {}, **similarity(candidateLimit=3)}) != {}


@pytest.mark.parametrize(("text", "merges_at"), [("0.4", 0.95), ("0.5", 0.95), ("0", 0.95)])
def test_a_stored_threshold_of_a_half_or_less_is_ignored(text: str, merges_at: float) -> None:
    stored = {"tiers": {}, **similarity(autoSupersedeAbove=text)}
    assert problems(stored, stored=stored) == {}
    assert effective_policy(read_spec(stored), config=OmniaConfig()).dedup.auto_supersede_above == merges_at


@pytest.mark.parametrize(("limit", "used"), [(0, 5), (1, 1), (50, 50)])
def test_candidate_limit_zero_uses_the_default(limit: int, used: int) -> None:
    assert effective(similarity(candidateLimit=limit)).dedup.candidate_limit == used


def test_dedup_can_be_switched_off() -> None:
    assert not effective(similarity(enabled=False)).dedup.enabled


# --- write --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("write", "used"), [(None, 8192), ({}, 8192), (0, 8192), (1, 1), (1_048_576, 1_048_576)])
def test_max_body_bytes(write: Any, used: int) -> None:
    section = write if write is None or isinstance(write, dict) else {"maxBodyBytes": write}
    assert effective({"write": section}).max_body_bytes == used


# --- tierPrecedence -----------------------------------------------------------------------------


@pytest.mark.parametrize("section", [None, {"multiplicative": {}}])
def test_every_weight_is_one_by_default(section: Any) -> None:
    found = effective({"tierPrecedence": section})
    assert [found.tier_weight(tier) for tier in Tier] == [1.0, 1.0, 1.0, 1.0]


def test_user_for_agent_inherits_the_users_weight() -> None:
    weights = {"institutional": "2.0", "agent": "1.5", "user": "0.5"}
    found = effective({"tierPrecedence": {"multiplicative": weights}})
    assert [found.tier_weight(tier) for tier in Tier] == [2.0, 1.5, 0.5, 0.5]


def test_multiplicative_must_be_set() -> None:
    assert problems({"tierPrecedence": {}}) == {"/spec/tierPrecedence": "rule_violated"}


# --- gate ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "section", [None, {}, {"accept": {}, "rateLimits": {}, "canaries": {}}, {"minDistinctSubjects": None}]
)
def test_gate_defaults(section: Any) -> None:
    found = effective({"gate": section})
    assert asdict(found.gate) == {
        "dedup_threshold": 0.95,
        "allowed_terms": (),
        "min_distinct_subjects": 2,
        "corroboration_window_days": 30,
        "accept": {"user_shares": True, "dreaming": True},
        "rate_limits": {"max_held_per_subject": 200, "max_publishes_per_hour": 100},
        "canaries": {"on_hit": "freeze", "cleared_at": None},
    }
    assert found.gate_declared == (section is not None)


def test_a_gate_set_otherwise() -> None:
    found = effective(
        {
            "gate": {
                "dedupThreshold": "0.9",
                "allowedTerms": ["Jenkins", "(a+)+$"],
                "minDistinctSubjects": 3,
                "corroborationWindowDays": 14,
                "accept": {"userShares": False, "dreaming": False},
                "rateLimits": {"maxHeldPerSubject": 1, "maxPublishesPerHour": 2},
                "canaries": {"onHit": "reject", "clearedAt": "2026-05-01T02:00:00+02:00"},
            }
        }
    ).gate
    assert (found.dedup_threshold, found.allowed_terms) == (0.9, ("Jenkins", "(a+)+$"))
    assert (found.min_distinct_subjects, found.corroboration_window_days) == (3, 14)
    assert (found.accept.user_shares, found.accept.dreaming) == (False, False)
    assert (found.rate_limits.max_held_per_subject, found.rate_limits.max_publishes_per_hour) == (1, 2)
    assert (found.canaries.on_hit, found.canaries.cleared_at) == ("reject", datetime(2026, 5, 1, tzinfo=UTC))


# --- consentRevocation --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("section", "action"),
    [
        (None, "SoftDelete"),
        ({}, "SoftDelete"),
        ({"action": "SoftDelete"}, "SoftDelete"),
        ({"action": "HardDelete"}, "HardDelete"),
        ({"action": "Stop"}, "Stop"),
    ],
)
def test_consent_revocation(section: Any, action: str) -> None:
    assert effective({"consentRevocation": section}).consent_revocation.action == action


def test_with_no_policy_bound_a_revocation_soft_deletes() -> None:
    assert effective(None).consent_revocation.action == "SoftDelete"


# --- ingestion ----------------------------------------------------------------------------------

FLAGS = OmniaConfig(
    edition=Edition.ENTERPRISE,
    ingest=IngestConfig(strategy="summary", summarizer="extractive", chunk_size=120, chunk_overlap=10),
)
INGESTION = [
    # the policy's section, the flags; strategy, size, overlap
    (None, None, "chunk", 200, 40),
    (None, FLAGS, "summary", 120, 10),
    ({}, FLAGS, "summary", 120, 10),
    ({"strategy": "chunk"}, FLAGS, "chunk", 120, 10),
    ({"strategy": "summaryThenChunk", "summarizer": "extractive"}, None, "summaryThenChunk", 200, 40),
    ({"chunk": {"size": 500}}, FLAGS, "summary", 500, 40),
    ({"chunk": {"size": 500, "overlap": 499}}, FLAGS, "summary", 500, 499),
]


@pytest.mark.parametrize(("section", "config", "strategy", "size", "overlap"), INGESTION)
def test_ingestion_falls_back_to_the_flags_field_by_field(
    section: Any, config: OmniaConfig | None, strategy: str, size: int, overlap: int
) -> None:
    found = effective({"ingestion": section}, config=config or OmniaConfig(edition=Edition.ENTERPRISE)).ingestion
    assert (found.strategy, found.summarizer) == (strategy, "extractive")
    assert (found.chunk_size, found.chunk_overlap) == (size, overlap)


@pytest.mark.parametrize(
    ("chunk", "pointer"),
    [
        ({"size": 40, "overlap": 40}, "overlap"),
        ({"size": 40, "overlap": 41}, "overlap"),
        ({"size": 30}, "overlap"),
        ({"overlap": 200}, "overlap"),
        ({"size": 0}, "size"),
        ({"size": -1}, "size"),
    ],
)
def test_overlap_must_be_less_than_size(chunk: dict[str, int], pointer: str) -> None:
    assert list(problems({"ingestion": {"chunk": chunk}})) == [f"/spec/ingestion/chunk/{pointer}"]


# --- toolGuidance -------------------------------------------------------------------------------


def test_tool_guidance() -> None:
    assert asdict(effective(None).tool_guidance) == {
        "notes": "",
        "tools": {"remember": "", "recall": "", "list": "", "forget": "", "open": ""},
    }
    tools = {name: f"advice on {name}" for name in ("remember", "recall", "list", "forget", "open")}
    assert asdict(effective({"toolGuidance": {"notes": "n", "tools": tools}}).tool_guidance) == {
        "notes": "n",
        "tools": tools,
    }


# --- consolidation ------------------------------------------------------------------------------


@pytest.mark.parametrize("section", [None, {}, {"timeouts": {"functionCall": "", "passWallClock": ""}}])
def test_consolidation_defaults(section: Any) -> None:
    found = effective({"consolidation": section}).consolidation
    assert found.schedule == "0 2 * * *"
    assert set(asdict(found.schedules).values()) == {""}
    assert set(asdict(found.function_refs).values()) == {None}
    assert (found.candidate_limits.max_buckets_per_pass, found.candidate_limits.max_per_bucket) == (100, 50)
    counts = found.safety_gates.min_distinct_user_count
    assert (counts.agent_scoped, counts.user_scoped) == (5, 1)
    assert (found.safety_gates.max_scope_widening, found.safety_gates.require_pii_redaction) == ("workspace", True)
    assert (found.timeouts.function_call, found.timeouts.pass_wall_clock) == (DAY / 288, DAY / 48)


@pytest.mark.parametrize(
    ("reference", "pointer"),
    [
        ({"name": "pack", "namespace": "team-a"}, None),
        ({"name": "pack", "namespace": ""}, None),
        ({"namespace": "team-a"}, "name"),
        ({"name": "Pack"}, "name"),
        ({"name": "pack.evil.example"}, "name"),
        ({"name": "pack", "namespace": "a/b"}, "namespace"),
    ],
)
def test_a_function_is_named_by_dns_labels(reference: dict[str, str], pointer: str | None) -> None:
    found = list(problems({"consolidation": {"functionRefs": {"staleObservations": reference}}}))
    assert found == ([f"/spec/consolidation/functionRefs/staleObservations/{pointer}"] if pointer else [])


@pytest.mark.parametrize("cron", ["* * * *", "every night", "0 2 * * * *", "0  2 * * *", "0 2 * * *\n"])
def test_a_schedule_has_five_fields(cron: str) -> None:
    assert list(problems({"consolidation": {"schedule": cron}})) == ["/spec/consolidation/schedule"]


def test_a_widening_nobody_supports_is_taken_here_and_refused_when_it_is_used() -> None:
    section = {"safetyGates": {"maxScopeWidening": "institution"}}
    assert effective({"consolidation": section}).consolidation.safety_gates.max_scope_widening == "institution"


# --- schema -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(RelationKind))
def test_the_relation_kinds_of_the_spec(kind: str) -> None:
    assert problems({"schema": {"relations": [{"name": "r", "kind": kind}]}}) == {}


@pytest.mark.parametrize(
    ("schema", "pointer", "code"),
    [
        ({"types": [{}]}, "types/0/name", "required"),
        ({"types": [{"name": ""}]}, "types/0/name", "bad_length"),
        ({"types": [{"name": "a"}, {"name": "a"}]}, "types/1", "duplicate"),
        ({"types": [{"name": "a", "allowedTiers": ["team"]}]}, "types/0/allowedTiers/0", "not_allowed"),
        ({"types": [None]}, "types/0", "wrong_type"),
        ({"types": [{"name": f"t{number}"} for number in range(10_000)]}, "types", "too_many"),
        ({"relations": [{"name": "r"}]}, "relations/0/kind", "required"),
        ({"relations": [{"kind": "logical"}]}, "relations/0/name", "required"),
        ({"relations": [{"name": "r", "kind": "causal"}]}, "relations/0/kind", "not_allowed"),
        ({"relations": [{"name": "r", "kind": "logical", "directed": "no"}]}, "relations/0/directed", "wrong_type"),
    ],
)
def test_a_schema_that_is_refused(schema: dict[str, Any], pointer: str, code: str) -> None:
    assert problems({"schema": schema}) == {f"/spec/schema/{pointer}": code}


def test_a_type_may_have_any_name_that_is_not_empty() -> None:
    assert admitted({"schema": {"types": [{"name": "<script>"}]}})["schema"]["types"] == [{"name": "<script>"}]


# --- allowedTerms -------------------------------------------------------------------------------


@pytest.mark.parametrize("term", [".*", "(a+)+$", "[a", "ab", "é́", "x" * 256])
def test_an_allowed_term_is_taken_literally(term: str) -> None:
    assert effective({"gate": {"allowedTerms": [term]}}).gate.allowed_terms == (term,)


@pytest.mark.parametrize("term", ["", "[", "x", "x" * 257])
def test_a_term_that_would_match_everything_is_refused(term: str) -> None:
    assert problems({"gate": {"allowedTerms": [term]}}) == {"/spec/gate/allowedTerms/0": "bad_length"}


def test_ten_thousand_terms_and_not_one_more() -> None:
    assert problems({"gate": {"allowedTerms": ["term"] * 10_000}}) == {}
    assert problems({"gate": {"allowedTerms": ["term"] * 10_001}}) == {"/spec/gate/allowedTerms": "too_many"}
