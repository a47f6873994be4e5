"""Which rows a read may touch: an exact scope, and what the caller adds to it (design: Reading a scope)."""

from __future__ import annotations

from dataclasses import dataclass

from omnia.core.errors import BadInput
from omnia.core.scope import Scope, Tier

DEFAULT_PAGE, LARGEST_PAGE, DEEPEST_OFFSET = 20, 100, 10_000_000
"""How many rows a list answers, and how far it may be asked to skip."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The rows a list, search or open reads.

    `any_agent` (`agent=*`) takes all rows of the scope's user, whatever the agent. `include_agentless`
    adds the user's rows for no agent to those for the one named. `include_shared` adds the institutional
    rows and, when an agent is named, that agent's.
    """

    scope: Scope
    any_agent: bool = False
    include_agentless: bool = False
    include_shared: bool = False

    def __post_init__(self) -> None:
        if self.any_agent and (self.scope.user is None or self.scope.agent is not None):
            raise BadInput("agent=* needs a user and stands for every agent of that user", code="invalid_scope")


@dataclass(frozen=True, slots=True)
class Filters:
    """What narrows a read inside its reach; an empty filter narrows nothing."""

    types: tuple[str, ...] = ()
    category: str | None = None
    purpose: str | None = None
    tier: Tier | None = None
    min_confidence: float | None = None
