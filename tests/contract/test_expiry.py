"""The spec's `tiers`: write-time expiry per tier, per category, its caps and its fallbacks."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnia.config import OmniaConfig
from omnia.core.edition import Edition
from omnia.core.scope import Tier
from policies.domain.expiry import ExpiryRules
from tests.contract.policy_documents import ENTERPRISE, NOW, effective

TIERS: dict[str, Any] = {
    "institutional": {"ttl": {"default": "365d"}},
    "agent": {"ttl": {"default": "90d", "maxAge": "180d"}},
    "user": {
        "ttl": {"default": "48h", "maxAge": "30d"},
        "perCategory": {
            "memory:health": {"ttl": {"default": "12h"}},
            "memory:identity": {"ttl": {"maxAge": "1d"}},
            "memory:location": {"ttl": {}},
            "memory:history": {},
        },
    },
}


def rules(tiers: dict[str, Any], *, config: OmniaConfig = ENTERPRISE) -> ExpiryRules:
    return effective({"tiers": tiers}, config=config).expiry


def span(at: datetime | None) -> timedelta | None:
    return None if at is None else at - NOW


def days(number: float | None) -> timedelta | None:
    return None if number is None else timedelta(days=number)


WRITES = [
    # tier, category, the writer's expiry in days, the expiry in days
    ("institutional", None, None, 365),
    ("institutional", None, 5000, 5000),
    ("agent", None, None, 90),
    ("agent", None, 100, 100),
    ("agent", None, 181, 180),
    ("user", None, None, 2),
    ("user", None, 29, 29),
    ("user", None, 365, 30),
    ("user_for_agent", None, None, 2),
    ("user_for_agent", None, 365, 30),
    # an override with a ttl replaces the tier's, both fields at once
    ("user", "memory:health", None, 0.5),
    ("user", "memory:health", 365, 365),
    ("user", "memory:identity", None, None),
    ("user", "memory:identity", 20, 1),
    ("user", "memory:location", None, None),
    ("user", "memory:location", 365, 365),
    ("user_for_agent", "memory:health", None, 0.5),
    # without a ttl on the override, or without an override, the tier's applies
    ("user", "memory:history", None, 2),
    ("user", "memory:preferences", None, 2),
    ("agent", "memory:health", None, 90),
]


@pytest.mark.parametrize(("tier", "category", "explicit", "expected"), WRITES)
def test_the_expiry_of_a_write(tier: str, category: str | None, explicit: float | None, expected: float | None) -> None:
    stated = None if explicit is None else NOW + timedelta(days=explicit)
    at = rules(TIERS).resolve(tier=Tier(tier), category=category, explicit=stated, now=NOW)
    assert span(at) == days(expected)


FALLBACKS = [
    # the tier's ttl, --default-ttl in days, the expiry in days
    ({"default": "180d"}, 1, 180),
    ({"default": ""}, 1, 1),
    ({}, 1, 1),
    (None, 1, 1),
    ({"default": "", "maxAge": "10d"}, 20, 10),
    ({"default": ""}, None, None),
    ({"default": ""}, 0, None),
    (None, None, None),
    ({"maxAge": "10d"}, None, None),
]


@pytest.mark.parametrize(("ttl", "flag", "expected"), FALLBACKS)
def test_an_empty_default_falls_back_to_the_flag_and_then_to_no_expiry(
    ttl: dict[str, str] | None, flag: float | None, expected: float | None
) -> None:
    config = OmniaConfig(edition=Edition.ENTERPRISE, default_ttl=days(flag))
    tier = {} if ttl is None else {"ttl": ttl}
    at = rules({"user": tier}, config=config).resolve(tier=Tier.USER, category=None, explicit=None, now=NOW)
    assert span(at) == days(expected)


@pytest.mark.parametrize("tier", list(Tier))
@pytest.mark.parametrize("tiers", [{}, {"user": {}, "agent": {}, "institutional": {}}])
def test_a_tier_left_out_or_without_ttl_sets_no_expiry(tiers: dict[str, Any], tier: Tier) -> None:
    assert rules(tiers).resolve(tier=tier, category=None, explicit=None, now=NOW) is None


def test_without_a_policy_only_the_writer_and_the_flag_give_an_expiry() -> None:
    flagged = effective(None, config=OmniaConfig(default_ttl=timedelta(hours=24))).expiry
    stated = NOW + timedelta(days=7)
    assert span(flagged.resolve(tier=Tier.USER, category=None, explicit=None, now=NOW)) == timedelta(hours=24)
    assert flagged.resolve(tier=Tier.USER, category=None, explicit=stated, now=NOW) == stated


MERGES = [
    # maxAge, the later expiry of the two in days (None: one side never expires), the expiry in days
    ("30d", 10, 10),
    ("30d", 30, 30),
    ("30d", 31, 30),
    ("30d", None, 30),
    ("", 5000, 5000),
    ("", None, None),
]


@pytest.mark.parametrize(("max_age", "later", "expected"), MERGES)
def test_max_age_caps_the_expiry_a_merge_reaches(max_age: str, later: float | None, expected: float | None) -> None:
    reached = None if later is None else NOW + timedelta(days=later)
    capped = rules({"user": {"ttl": {"maxAge": max_age}}}).cap(reached, tier=Tier.USER, category=None, now=NOW)
    assert span(capped) == days(expected)


@given(
    later=st.none() | st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=100_000)),
    longest=st.integers(min_value=0, max_value=36_525),
    tier=st.sampled_from(list(Tier)),
)
def test_a_cap_is_never_later_than_max_age_and_never_later_than_what_it_caps(
    later: timedelta | None, longest: int, tier: Tier
) -> None:
    ttl = {"ttl": {"maxAge": f"{longest}d"}}
    found = rules({"institutional": ttl, "agent": ttl, "user": ttl})
    reached = None if later is None else NOW + later
    capped = found.cap(reached, tier=tier, category=None, now=NOW)
    assert capped is not None
    assert capped <= NOW + timedelta(days=longest)
    assert reached is None or capped <= reached
    assert found.cap(capped, tier=tier, category=None, now=NOW) == capped
