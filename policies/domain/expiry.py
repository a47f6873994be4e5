"""When a memory expires, decided as it is written (spec: tiers.<tier>.ttl and perCategory)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from omnia.core.scope import Tier
from policies.domain.document import Tiers, TierSpec, Ttl

_UNSET = Ttl()


@dataclass(frozen=True, slots=True)
class ExpiryRules:
    """A policy's expiry, with the `--default-ttl` behind it (None: unset)."""

    tiers: Tiers
    default_ttl: timedelta | None

    def resolve(self, *, tier: Tier, category: str | None, explicit: datetime | None, now: datetime) -> datetime | None:
        """The expiry of a write: stated, else the policy's default, else `--default-ttl`, else never.

        `maxAge` caps an expiry, stated or defaulted; a write that has none never expires.
        """
        ttl = self.ttl(tier, category=category)
        span = self.default_ttl if ttl.default is None else ttl.default
        at = now + span if explicit is None and span is not None else explicit
        return None if at is None else self.cap(at, tier=tier, category=category, now=now)

    def cap(self, at: datetime | None, *, tier: Tier, category: str | None, now: datetime) -> datetime | None:
        """`at`, or now + `maxAge` when that comes first.

        None means never, so `maxAge` caps it too: this is the expiry a merge reaches.
        """
        longest = self.ttl(tier, category=category).max_age
        if longest is None:
            return at
        return now + longest if at is None else min(at, now + longest)

    def ttl(self, tier: Tier, *, category: str | None) -> Ttl:
        """The block in force: the category's override when it has one, else the tier's."""
        spec = self._spec(tier)
        override = spec.per_category.get(category) if category else None
        if override is not None and override.ttl is not None:
            return override.ttl
        return spec.ttl or _UNSET

    def _spec(self, tier: Tier) -> TierSpec:
        match tier:
            case Tier.INSTITUTIONAL:
                found = self.tiers.institutional
            case Tier.AGENT:
                found = self.tiers.agent
            case Tier.USER | Tier.USER_FOR_AGENT:
                found = self.tiers.user
        return found or TierSpec()
