"""Scope and tier: whose memory a row is. Every query starts from one of these (spec: Memory tiers)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from enum import StrEnum


class Tier(StrEnum):
    """The four tiers, in the order of their stored codes 0 to 3."""

    INSTITUTIONAL = "institutional"
    AGENT = "agent"
    USER = "user"
    USER_FOR_AGENT = "user_for_agent"

    @property
    def code(self) -> int:
        return _CODES[self]

    @property
    def shared(self) -> bool:
        """Whether the rows of this tier are read by more than one person."""
        return self in (Tier.INSTITUTIONAL, Tier.AGENT)

    @staticmethod
    def of(user: str | None, agent: str | None) -> Tier:
        """The tier a scope resolves to (spec: "How the schema is enforced")."""
        if user:
            return Tier.USER_FOR_AGENT if agent else Tier.USER
        return Tier.AGENT if agent else Tier.INSTITUTIONAL

    @staticmethod
    def from_code(code: int) -> Tier:
        return _BY_CODE[code]


_BY_CODE = tuple(Tier)
_CODES = {tier: code for code, tier in enumerate(_BY_CODE)}


@dataclass(frozen=True, slots=True)
class Scope:
    """One exact scope. A user or agent that is None means IS NULL in the store, never "any"."""

    workspace: uuid.UUID
    user: str | None = None
    agent: str | None = None

    def __post_init__(self) -> None:
        if self.user == "" or self.agent == "":
            raise ValueError("an empty user or agent is not a scope; use None")

    @property
    def tier(self) -> Tier:
        return Tier.of(self.user, self.agent)
