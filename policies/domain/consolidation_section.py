"""The `consolidation` section of a MemoryPolicy's `spec`, typed (spec: consolidation function contract)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Schedules:
    """Cron expressions per axis; empty: the common schedule."""

    stale_observations: str = ""
    cross_scope_candidates: str = ""
    entity_duplicate_candidates: str = ""


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """An empty namespace stands for the workspace's own."""

    name: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class FunctionRefs:
    stale_observations: FunctionRef | None = None
    cross_scope_candidates: FunctionRef | None = None
    entity_duplicate_candidates: FunctionRef | None = None


@dataclass(frozen=True, slots=True)
class CandidateLimits:
    max_buckets_per_pass: int = 100
    max_per_bucket: int = 50


@dataclass(frozen=True, slots=True)
class MinDistinctUserCount:
    """0 disables the threshold."""

    agent_scoped: int = 5
    user_scoped: int = 1


@dataclass(frozen=True, slots=True)
class SafetyGates:
    min_distinct_user_count: MinDistinctUserCount = MinDistinctUserCount()
    max_scope_widening: str = "workspace"
    require_pii_redaction: bool = field(default=True, metadata={"key": "requirePIIRedaction"})


@dataclass(frozen=True, slots=True)
class Timeouts:
    function_call: timedelta = timedelta(minutes=5)
    pass_wall_clock: timedelta = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class ScheduleAuth:
    audience: str = ""


@dataclass(frozen=True, slots=True)
class Consolidation:
    schedule: str = "0 2 * * *"
    schedules: Schedules = Schedules()
    function_refs: FunctionRefs = FunctionRefs()
    candidate_limits: CandidateLimits = CandidateLimits()
    safety_gates: SafetyGates = SafetyGates()
    timeouts: Timeouts = Timeouts()
    schedule_auth: ScheduleAuth = ScheduleAuth()
