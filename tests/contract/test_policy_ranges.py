"""Every ranged field of the spec at its edges: below, least, greatest, above."""

from __future__ import annotations

from typing import Any

import pytest

from policies.domain.admission import admit_policy
from tests.contract.policy_documents import NOW, nested, policy, problems

RANGES = [
    ("recall.inlineThresholdBytes", 0, 1_048_576),
    ("recall.maxRelatedPerMemory", 0, 50),
    ("recall.graphExpansion.hops", 1, 2),
    ("recall.graphExpansion.maxAdded", 1, 100),
    ("dedup.embeddingSimilarity.candidateLimit", 0, 50),
    ("write.maxBodyBytes", 0, 1_048_576),
    ("gate.minDistinctSubjects", 2, 1000),
    ("gate.corroborationWindowDays", 1, 365),
    ("gate.rateLimits.maxHeldPerSubject", 1, 100_000),
    ("gate.rateLimits.maxPublishesPerHour", 1, 100_000),
    ("consolidation.candidateLimits.maxBucketsPerPass", 1, 2**31 - 1),
    ("consolidation.candidateLimits.maxPerBucket", 1, 2**31 - 1),
    ("consolidation.safetyGates.minDistinctUserCount.agentScoped", 0, 2**31 - 1),
    ("consolidation.safetyGates.minDistinctUserCount.userScoped", 0, 2**31 - 1),
]


def pointer(dotted: str) -> str:
    return "/spec/" + dotted.replace(".", "/")


@pytest.mark.parametrize(("field", "low", "high"), RANGES)
def test_a_whole_number_is_taken_inside_its_range_and_refused_outside(field: str, low: int, high: int) -> None:
    assert problems(nested(field, low)) == {}
    assert problems(nested(field, high)) == {}
    for outside in (low - 1, high + 1, 10**400, -(10**400)):
        assert problems(nested(field, outside)) == {pointer(field): "out_of_range"}


@pytest.mark.parametrize(("field", "low", "high"), RANGES)
@pytest.mark.parametrize("wrong", [2.5, "2", True, [], {}, float("nan"), float("inf"), -float("inf")])
def test_only_a_whole_number_will_do_and_the_message_says_the_range(
    field: str, low: int, high: int, wrong: Any
) -> None:
    (problem,) = admit_policy(policy(nested(field, wrong)), stored=None, now=NOW).problems
    assert (problem.pointer, problem.code) == (pointer(field), "wrong_type")
    assert problem.detail == f"must be a whole number from {low} to {high}"


@pytest.mark.parametrize(("field", "low", "high"), RANGES)
def test_a_float_without_a_fraction_is_a_whole_number_as_in_a_cluster(field: str, low: int, high: int) -> None:
    checked = admit_policy(policy(nested(field, float(low))), stored=None, now=NOW)
    value: Any = checked.spec
    for step in field.split("."):
        value = value[step]
    assert (value, type(value)) == (low, int)


UNITS = [
    "recall.graphExpansion.weight",
    "dedup.embeddingSimilarity.surfaceDuplicatesAbove",
    "gate.dedupThreshold",
]
WEIGHTS = [f"tierPrecedence.multiplicative.{tier}" for tier in ("institutional", "agent", "user")]

TAKEN_FROM_0_TO_1 = ["0", "0.0", "0.5", "0.950", "1", "1.0", "1.000", "0.33333333333333333333333333333333"]
TAKEN_TO_10 = [*TAKEN_FROM_0_TO_1, "2.0", "9.99", "10", "10.0"]
NO_DECIMAL = ["", "-0.1", ".95", "0.", "1e-1", "+0.5", " 0.95", "0.95 ", "0.95\n", "0,95", "९.५", "０.9", "NaN", "inf", "00.5", "0x1"]  # fmt: skip
ABOVE_1 = ["1.01", "1.5", "2", "10", "9" * 400]
ABOVE_10 = ["10.01", "10.5", "11", "100", "9" * 400]


@pytest.mark.parametrize("field", UNITS)
@pytest.mark.parametrize("text", TAKEN_FROM_0_TO_1)
def test_a_decimal_from_0_to_1_is_taken(field: str, text: str) -> None:
    assert problems(nested(field, text)) == {}


@pytest.mark.parametrize("field", UNITS)
@pytest.mark.parametrize("text", NO_DECIMAL + ABOVE_1)
def test_anything_else_is_refused(field: str, text: str) -> None:
    assert list(problems(nested(field, text))) == [pointer(field)]


@pytest.mark.parametrize("field", WEIGHTS)
@pytest.mark.parametrize("text", TAKEN_TO_10)
def test_a_weight_from_0_to_10_is_taken(field: str, text: str) -> None:
    assert problems(nested(field, text)) == {}


@pytest.mark.parametrize("field", WEIGHTS)
@pytest.mark.parametrize("text", NO_DECIMAL + ABOVE_10)
def test_no_other_weight_is(field: str, text: str) -> None:
    assert list(problems(nested(field, text))) == [pointer(field)]


@pytest.mark.parametrize("field", [*UNITS, *WEIGHTS])
def test_a_decimal_is_written_as_text(field: str) -> None:
    assert problems(nested(field, 0.9)) == {pointer(field): "wrong_type"}


LENGTHS = [
    ("toolGuidance.notes", 0, 2000),
    ("toolGuidance.tools.remember", 0, 2000),
    ("toolGuidance.tools.recall", 0, 2000),
    ("toolGuidance.tools.list", 0, 2000),
    ("toolGuidance.tools.forget", 0, 2000),
    ("toolGuidance.tools.open", 0, 2000),
]


@pytest.mark.parametrize(("field", "low", "high"), LENGTHS)
@pytest.mark.parametrize("letter", ["x", "\U0001f600"])
def test_a_text_is_measured_in_characters(field: str, low: int, high: int, letter: str) -> None:
    assert problems(nested(field, letter * low)) == {}
    assert problems(nested(field, letter * high)) == {}
    assert problems(nested(field, letter * (high + 1))) == {pointer(field): "bad_length"}


WORDS = [
    ("gate.canaries.onHit", ["freeze", "reject"]),
    ("consentRevocation.action", ["SoftDelete", "HardDelete", "Stop"]),
    ("ingestion.strategy", ["chunk", "summary", "summaryThenChunk"]),
    ("ingestion.summarizer", ["extractive"]),
]


@pytest.mark.parametrize(("field", "words"), WORDS)
def test_an_enum_takes_its_words_and_names_them_when_it_refuses(field: str, words: list[str]) -> None:
    for word in words:
        assert problems(nested(field, word)) == {}
    for wrong in ("", words[0].upper() + "x", f" {words[0]}", f"{words[0]}\n"):
        (problem,) = admit_policy(policy(nested(field, wrong)), stored=None, now=NOW).problems
        assert (problem.pointer, problem.code) == (pointer(field), "not_allowed")
        assert problem.detail == f"must be one of: {', '.join(words)}"


DURATIONS = [
    *(f"tiers.{tier}.ttl.{key}" for tier in ("institutional", "agent", "user") for key in ("default", "maxAge")),
    *(f"tiers.{tier}.perCategory.memory:health.ttl.default" for tier in ("institutional", "agent", "user")),
    *(f"recall.halfLife.{tier}" for tier in ("institutional", "agent", "user")),
    "consolidation.timeouts.functionCall",
    "consolidation.timeouts.passWallClock",
]


@pytest.mark.parametrize("field", DURATIONS)
@pytest.mark.parametrize("text", ["", "30d", "1d2h3m4s", "720h", "0s", "0" * 60 + "30d", "36525d"])
def test_a_duration_of_the_grammar_is_taken_whatever_its_length(field: str, text: str) -> None:
    assert problems(nested(field, text)) == {}


@pytest.mark.parametrize("field", DURATIONS)
@pytest.mark.parametrize(
    "text", ["2h1d", "-1d", "1.5h", "30D", "30d\n", "３０d", " 30d", "1w", "30", "d", "1d 2h", "5 m"]
)
def test_nothing_else_is_a_duration(field: str, text: str) -> None:
    assert problems(nested(field, text)) == {pointer(field): "bad_format"}
