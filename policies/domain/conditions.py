"""A policy's status: what the controller checks beyond admission (spec: Status Fields).

Written against the raw spec and tolerant of anything: a policy that fails here is stored in phase
`Error`, and the last valid spec stays in force.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from omnia.core.duration import parse_duration
from omnia.core.errors import FieldProblem
from omnia.core.scope import Tier
from policies.domain.document import PolicySpec, read_spec
from policies.domain.schema.finding import Path, pointer

HEAVIEST = 10.0


@dataclass(frozen=True, slots=True)
class Status:
    """`phase`, `conditions` in their wire form, and the problems behind `PolicyValid`."""

    phase: str
    conditions: list[dict[str, Any]]
    problems: tuple[FieldProblem, ...]


def status_of(
    spec: Mapping[str, Any], *, generation: int, now: datetime, previous: Sequence[Mapping[str, Any]] = ()
) -> Status:
    """The status of an admitted spec. A condition keeps its transition time while its status stays."""
    problems = tuple(_problems(spec))
    uncovered = sorted(_uncovered(spec))
    invalid = "; ".join(f"{each.pointer} {each.detail}" for each in problems)
    missing = f"no schema type may be written to: {', '.join(uncovered)}" if uncovered else ""
    verdict = "ValidationFailed" if problems else "Valid"
    rows = (
        ("PolicyValid", not problems, verdict, invalid),
        ("SchemaCoverage", not uncovered, "TierNotCovered" if uncovered else "Covered", missing),
        ("WorkspacesResolved", True, "NotApplicable", ""),
        ("Ready", not problems, verdict, ""),
    )
    stamp = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    since = {(each["type"], each["status"]): each["lastTransitionTime"] for each in previous}
    conditions = [
        {
            "type": kind,
            "status": str(holds),
            "reason": reason,
            "message": message,
            "observedGeneration": generation,
            "lastTransitionTime": since.get((kind, str(holds)), stamp),
        }
        for kind, holds, reason, message in rows
    ]
    return Status("Error" if problems else "Active", conditions, problems)


def warnings(conditions: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What a policy with these conditions is, yet hardly meant to be; each goes on after its name."""
    for each in conditions:
        match each:
            case {"type": "PolicyValid", "status": "False", "message": why}:
                yield f"is in phase Error: {why}"
            case {"type": "SchemaCoverage", "status": "False", "message": why}:
                yield f"has a tier that takes no memory: {why}"


def _problems(spec: Mapping[str, Any]) -> Iterator[FieldProblem]:
    for path, text in _durations(spec):
        if _span(text) is _BAD:
            detail = "must be a duration of at most 36525d, such as 180d or 720h"
            yield FieldProblem(pointer(path), "bad_duration", detail)
    for path, ttl in _ttl_blocks(spec):
        default, longest = _span(ttl.get("default", "")), _span(ttl.get("maxAge", ""))
        if isinstance(default, timedelta) and isinstance(longest, timedelta) and default > longest:
            detail = "must not be longer than maxAge"
            yield FieldProblem(pointer((*path, "default")), "longer_than_max_age", detail)
    for path, weight in _entries(spec, "tierPrecedence", "multiplicative"):
        if not _is_weight(weight):
            yield FieldProblem(pointer(path), "out_of_range", 'must be a decimal from 0 to 10, such as "1.5"')


_BAD = object()


def _span(text: object) -> object:
    """A timedelta, None for "not set", or `_BAD`."""
    try:
        return parse_duration(text) if isinstance(text, str) else _BAD
    except ValueError:
        return _BAD


def _is_weight(text: object) -> bool:
    try:
        return isinstance(text, str) and 0 <= float(text) <= HEAVIEST
    except ValueError:
        return False


def _durations(spec: Mapping[str, Any]) -> Iterator[tuple[Path, object]]:
    for path, ttl in _ttl_blocks(spec):
        yield from (((*path, key), text) for key, text in ttl.items())
    yield from _entries(spec, "recall", "halfLife")
    yield from _entries(spec, "consolidation", "timeouts")


def _ttl_blocks(spec: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for path, tier in _entries(spec, "tiers"):
        holders = [(path, tier)]
        if isinstance(tier, Mapping):
            inner = tier.get("perCategory")
            overrides = inner.items() if isinstance(inner, Mapping) else ()
            holders += [((*path, "perCategory", category), override) for category, override in overrides]
        for at, holder in holders:
            if isinstance(holder, Mapping) and isinstance(holder.get("ttl"), Mapping):
                yield (*at, "ttl"), holder["ttl"]


def _entries(spec: Mapping[str, Any], *names: str) -> Iterator[tuple[Path, Any]]:
    """The entries of the object at `names`, with their paths from the document root."""
    value: object = spec
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(value, Mapping):
        yield from ((("spec", *names, key), each) for key, each in value.items())


def _uncovered(spec: Mapping[str, Any]) -> Iterator[str]:
    """Configured tiers that no declared type may be written to. `user` covers `user_for_agent` too."""
    read: PolicySpec = read_spec(spec)
    for tier in (Tier.INSTITUTIONAL, Tier.AGENT, Tier.USER):
        reach = {Tier.USER, Tier.USER_FOR_AGENT} if tier is Tier.USER else {tier}
        declared = () if read.schema is None else read.schema.types
        covered = any(not each.allowed_tiers or reach & set(each.allowed_tiers) for each in declared)
        if getattr(read.tiers, tier) is not None and read.schema is not None and not covered:
            yield str(tier)
