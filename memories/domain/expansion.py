"""Graph expansion: what the policy allows and a recall may ask instead (spec: recall.graphExpansion)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from policies.domain.document import GraphExpansion

MOST_HOPS, MOST_ADDED = 2, 100


@dataclass(frozen=True, slots=True)
class ExpansionWish:
    """What a recall says of expansion; None leaves it to the policy."""

    enabled: bool | None = None
    hops: int | None = None
    relation_types: tuple[str, ...] | None = None
    max_added: int | None = None
    weight: float | None = None

    def settled(self, rules: GraphExpansion) -> GraphExpansion | None:
        """The walk that is made, or None. Nobody walks farther than two hops, however far they ask."""
        stated = {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}
        used = replace(rules, **stated)
        return replace(used, hops=min(used.hops, MOST_HOPS)) if used.enabled else None
