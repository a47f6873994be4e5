"""Where every statement starts: the scope, in SQL, before any similarity, text or filter.

A user or agent that is not given becomes IS NULL, never "any" (architecture, rule 7). Each predicate
names its tier, so that it is answered by the scope index.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from memories.domain.reach import Filters, Reach
from omnia.core.scope import Scope, Tier

UNRETIRED = "(m.retired_at IS NULL OR m.retired_as = 'invalidated' AND m.retired_at > %(now)s)"
"""Neither forgotten nor superseded, and not invalidated by the moment `now`.

Forgetting holds at once, whatever clock wrote its time: a save that began before it must not merge into
what it forgot. Only an invalidation may be dated ahead.
"""
UNEXPIRED = "(m.expires_at IS NULL OR m.expires_at > %(now)s)"
LIVE = f"{UNEXPIRED} AND {UNRETIRED}"
"""Neither expired nor retired, at the moment `now`."""
IN_TRASH = f"{UNEXPIRED} AND m.retired_as = 'forgotten' AND m.retired_at > %(trashed_after)s"
"""Forgotten, and still to be had back: the trash keeps nothing beyond its expiry."""

SHARED_TIERS = (
    "m.workspace_id = %(institutional)s AND m.tier = 0",
    "m.workspace_id = %(workspace)s AND m.tier = 1 AND m.agent_id = %(agent)s",
)
"""The institutional rows a recall joins, and the agent's; `institutional` is NULL where the edition has no such tier."""
USER_TIERS = (
    "m.workspace_id = %(workspace)s AND m.user_id = %(user)s AND (m.tier = 2 OR m.tier = 3 AND m.agent_id = %(agent)s)"
)
"""The user's rows a recall joins: for no agent, and for the one named."""
VISIBLE = "({})".format(" OR ".join(f"({tiers})" for tiers in (*SHARED_TIERS, USER_TIERS)))
"""A row of any tier a recall joins."""

_EXACT = {
    Tier.INSTITUTIONAL: "m.tier = 0 AND m.user_id IS NULL AND m.agent_id IS NULL",
    Tier.AGENT: "m.tier = 1 AND m.user_id IS NULL AND m.agent_id = %(agent)s",
    Tier.USER: "m.tier = 2 AND m.user_id = %(user)s AND m.agent_id IS NULL",
    Tier.USER_FOR_AGENT: "m.tier = 3 AND m.user_id = %(user)s AND m.agent_id = %(agent)s",
}


@dataclass(frozen=True, slots=True)
class Where:
    """A predicate over `memories_memory m` and the parameters it names."""

    sql: str
    parameters: dict[str, Any] = field(default_factory=dict)


def in_scope(reach: Reach, *, now: datetime) -> Where:
    """The live rows of `reach`, inside its workspace."""
    return Where(f"{_within(reach)} AND {LIVE}", scope_parameters(reach.scope, now=now))


def in_trash(reach: Reach, *, now: datetime, retention: timedelta) -> Where:
    """The rows of `reach` that were forgotten less than `retention` ago."""
    parameters = scope_parameters(reach.scope, now=now) | {"trashed_after": now - retention}
    return Where(f"{_within(reach)} AND {IN_TRASH}", parameters)


def _within(reach: Reach) -> str:
    tiers = f"({_EXACT[reach.scope.tier]})"
    if reach.any_agent:
        tiers = "(m.tier IN (2, 3) AND m.user_id = %(user)s)"
    elif reach.include_agentless:
        tiers = f"({USER_TIERS})"
    if reach.include_shared:
        tiers = f"({tiers} OR {_shared(reach.scope)})"
    return f"m.workspace_id = %(workspace)s AND {tiers}"


def visible(scope: Scope, *, institutional: bool, now: datetime) -> Where:
    """The live rows a recall of `scope` joins."""
    shared = {"institutional": scope.workspace if institutional else None}
    return Where(f"{VISIBLE} AND {LIVE}", scope_parameters(scope, now=now) | shared)


def of_owner(scope: Scope, *, now: datetime) -> Where:
    """The live rows of an owner: a user's whatever the agent unless one is named; without a user the shared tiers'."""
    owned = {
        Tier.INSTITUTIONAL: "m.tier IN (0, 1)",
        Tier.USER: "m.tier IN (2, 3) AND m.user_id = %(user)s",
    }.get(scope.tier, _EXACT[scope.tier])
    return Where(f"m.workspace_id = %(workspace)s AND {owned} AND {LIVE}", scope_parameters(scope, now=now))


def exactly(scope: Scope) -> str:
    """The predicate of one exact scope, live or not."""
    return f"m.workspace_id = %(workspace)s AND {_EXACT[scope.tier]}"


def scope_parameters(scope: Scope, *, now: datetime) -> dict[str, Any]:
    """What the scope predicates name; the absent user or agent is NULL, which equals nothing."""
    return {"workspace": scope.workspace, "user": scope.user, "agent": scope.agent, "now": now}


def _shared(scope: Scope) -> str:
    institutional = f"({_EXACT[Tier.INSTITUTIONAL]})"
    return institutional if scope.agent is None else f"{institutional} OR ({_EXACT[Tier.AGENT]})"


def narrowed_by(filters: Filters) -> Where:
    """The predicate of the filters that are set; TRUE when none is."""
    conditions, parameters = ["TRUE"], dict[str, Any]()
    for name, value, condition in (
        ("types", list(filters.types) or None, "m.type = ANY(%(types)s)"),
        ("category", filters.category, "m.consent_category = %(category)s"),
        ("purpose", filters.purpose, "m.purpose = %(purpose)s"),
        ("tier", filters.tier.code if filters.tier else None, "m.tier = %(tier)s"),
        ("min_confidence", filters.min_confidence, "m.confidence >= %(min_confidence)s"),
    ):
        if value is not None:
            conditions.append(condition)
            parameters[name] = value
    return Where(" AND ".join(conditions), parameters)
