"""The expiry a save comes to, through the route (spec: tiers.<tier>.ttl, perCategory, `--default-ttl`)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from policies.models import MemoryPolicy, ServiceGroup
from tests.contract.policy_documents import admitted
from tests.support import opened_store

pytestmark = pytest.mark.django_db
PLAIN = {"user": {"ttl": {"default": "180d"}}}
CAPPED = {
    "user": {"ttl": {"default": "48h", "maxAge": "30d"}, "perCategory": {"memory:health": {"ttl": {"default": "12h"}}}}
}
LONG_DEFAULT = {"user": {"ttl": {"maxAge": "10d"}}}

EXPIRIES: list[tuple[dict[str, Any] | None, int | None, str | None, float | None, float | None]] = [
    # the policy's tiers (None: no policy), --default-ttl in days, category, stated in days, days left
    (None, None, None, None, None),
    (None, 1, None, None, 1),
    (None, 1, None, 7, 7),
    (None, None, None, 7, 7),
    ({}, 1, None, None, 1),
    ({"user": {}}, None, None, None, None),
    ({"agent": {"ttl": {"default": "1d"}}}, None, None, None, None),
    (PLAIN, 1, None, None, 180),
    (PLAIN, 1, None, 365, 365),
    (CAPPED, None, None, None, 2),
    (CAPPED, None, None, 365, 30),
    (CAPPED, None, "memory:health", None, 0.5),
    (CAPPED, None, "memory:health", 365, 365),
    (CAPPED, None, "memory:context", 365, 30),
    (LONG_DEFAULT, 20, None, None, 10),
    (LONG_DEFAULT, None, None, None, None),
]


@pytest.mark.parametrize("agent", [None, "a1"])
@pytest.mark.parametrize(("tiers", "flag", "category", "stated", "left"), EXPIRIES)
def test_the_expiry_of_a_save(
    tiers: dict[str, Any] | None, flag: int | None, category: str | None, *, stated: float | None, left: float | None,
    agent: str | None, settings: Any,
) -> None:  # fmt: skip
    span = None if flag is None else timedelta(days=flag)
    settings.OMNIA = replace(settings.OMNIA, default_ttl=span)
    at = None if stated is None else (datetime.now(UTC) + timedelta(days=stated)).isoformat()
    with opened_store(policy=None if tiers is None else {"tiers": tiers}) as store:
        memory = store.save(agent=agent, category=category, expires_at=at)["memory"]
        assert ("expires_at" in memory) == (left is not None)
        if left is not None:
            found = datetime.fromisoformat(memory["expires_at"]) - datetime.fromisoformat(memory["created_at"])
            assert found / timedelta(days=1) == pytest.approx(left, abs=1e-3)


def test_the_service_group_picks_the_policy() -> None:
    with opened_store(policy={"tiers": PLAIN}) as store:
        MemoryPolicy.objects.create(name="strict", spec=admitted({"write": {"maxBodyBytes": 4}}), phase="Active")
        ServiceGroup.objects.create(workspace_id=store.workspace, name="strict", policy_name="strict")
        ServiceGroup.objects.create(workspace_id=store.workspace, name="loose", policy_name="never made")
        assert "expires_at" in store.save("Keeps bees")["memory"]
        header = {"X-Omnia-Service-Group": "strict"}
        assert store.save("Keeps bees", status=400, headers=header)["code"] == "body_too_large"
        assert store.save("Keeps bees", status=400, service_group="strict")["code"] == "body_too_large"
        assert "expires_at" not in store.save("Melts wax", service_group="loose")["memory"]
        assert "expires_at" not in store.save("Sells honey", service_group="unknown")["memory"]


def test_a_policy_in_phase_error_leaves_the_last_valid_spec_in_force() -> None:
    with opened_store(policy={"tiers": PLAIN}) as store:
        MemoryPolicy.objects.update(phase="Error", spec={"tiers": {}}, last_valid_spec=admitted({"tiers": CAPPED}))
        memory = store.save()["memory"]
        span = datetime.fromisoformat(memory["expires_at"]) - datetime.fromisoformat(memory["created_at"])
        assert round(span / timedelta(hours=1)) == 48
