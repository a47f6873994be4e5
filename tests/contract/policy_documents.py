"""Documents for the policy tests: the smallest one, with what a test is about laid over it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from omnia.config import OmniaConfig
from omnia.core.edition import Edition
from policies.domain.admission import admit_policy
from policies.domain.document import PolicySpec, read_spec
from policies.domain.effective import EffectivePolicy, effective_policy

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
ENTERPRISE = OmniaConfig(edition=Edition.ENTERPRISE)
API_VERSION = "omnia.altairalabs.ai/v1alpha1"


def policy(spec: Mapping[str, Any] | None = None, *, name: str = "p") -> dict[str, Any]:
    """A MemoryPolicy document; `tiers` is there unless the spec says otherwise."""
    return {
        "apiVersion": API_VERSION,
        "kind": "MemoryPolicy",
        "metadata": {"name": name},
        "spec": {"tiers": {}, **(spec or {})},
    }


def workspace(spec: Mapping[str, Any] | None = None, *, name: str = "w") -> dict[str, Any]:
    """A Workspace document."""
    return {"apiVersion": API_VERSION, "kind": "Workspace", "metadata": {"name": name}, "spec": dict(spec or {})}


def bound(policy_name: str, *, group: str = "default") -> dict[str, Any]:
    """The spec of a workspace whose service group binds a policy."""
    return {"services": [{"name": group, "memory": {"policyRef": {"name": policy_name}}}]}


def nested(dotted: str, value: Any) -> dict[str, Any]:
    """`a.b.c` and a value as {"a": {"b": {"c": value}}}."""
    for name in reversed(dotted.split(".")):
        value = {name: value}
    return dict(value)


def problems(spec: Mapping[str, Any], *, stored: Mapping[str, Any] | None = None) -> dict[str, str]:
    """What admission has against a spec: pointer to code."""
    checked = admit_policy(policy(spec), stored=stored, now=NOW)
    return {each.pointer: each.code for each in checked.problems}


def admitted(spec: Mapping[str, Any], *, stored: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The spec as it would be stored. Fails the test when it is refused."""
    checked = admit_policy(policy(spec), stored=stored, now=NOW)
    assert not checked.problems
    return checked.spec


def effective(spec: Mapping[str, Any] | None = None, *, config: OmniaConfig = ENTERPRISE) -> EffectivePolicy:
    """The rules an admitted spec comes to; None: no policy is bound."""
    return effective_policy(None if spec is None else typed(spec), config=config)


def typed(spec: Mapping[str, Any]) -> PolicySpec:
    return read_spec(admitted(spec))
