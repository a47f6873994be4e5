"""The words a memory graph may use, and where (spec: schema, "How the schema is enforced").

A declared schema replaces the built-in one; nothing is merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from omnia.core.errors import BadInput
from omnia.core.scope import Tier
from policies.domain.builtin import BUILTIN
from policies.domain.document import Schema, SchemaRelation, SchemaType

_ANY = "*"
_NAMED_AT_MOST = 20


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The schema in use. `declared` tells a policy's own from the built-in one."""

    version: str
    declared: bool
    types: Mapping[str, SchemaType]
    relations: tuple[SchemaRelation, ...]

    @staticmethod
    def of(schema: Schema | None) -> Vocabulary:
        """The vocabulary of a policy's schema; None stands for the built-in one."""
        used = BUILTIN if schema is None else schema
        return Vocabulary(
            version=used.version,
            declared=schema is not None,
            types={each.name: each for each in used.types},
            relations=used.relations,
        )

    def check_type(self, type_name: str, *, tier: Tier) -> None:
        """Raises BadInput `type_not_declared` or `tier_not_allowed` unless `tier` may hold the type."""
        found = self.types.get(type_name)
        if found is None:
            raise BadInput(f"The type is not declared; use one of: {_listed(self.types)}.", code="type_not_declared")
        if found.allowed_tiers and tier not in found.allowed_tiers:
            allowed = _listed(found.allowed_tiers)
            raise BadInput(
                f"The type {found.name} may not be written to the {tier} tier; it is allowed in: {allowed}.",
                code="tier_not_allowed",
            )

    def check_institutional_type(self, type_name: str) -> None:
        """The check of the institutional routes (a single write, a batch's `document`).

        As `check_type`, but without a policy schema they take any type.
        """
        if self.declared:
            self.check_type(type_name, tier=Tier.INSTITUTIONAL)

    def check_relation(self, name: str, *, source_type: str, target_type: str) -> None:
        """Raises BadInput `relation_not_declared` or `relation_not_allowed` for such an edge."""
        found = [each for each in self.relations if each.name == name]
        if not found:
            names = _listed(dict.fromkeys(each.name for each in self.relations))
            raise BadInput(f"The relation is not declared; use one of: {names}.", code="relation_not_declared")
        if not any(_joins(each, source_type, target_type) for each in found):
            ends = "; ".join(f"{_ends(each.source_types)} to {_ends(each.target_types)}" for each in found)
            raise BadInput(f"The relation {name} joins {ends}.", code="relation_not_allowed")

    def as_json(self) -> dict[str, Any]:
        """The answer of GET /memory/schema: the spec's fields, with defaults filled in."""
        return {
            "version": self.version,
            "types": [_type_json(each) for each in self.types.values()],
            "relations": [_relation_json(each) for each in self.relations],
        }


def _joins(relation: SchemaRelation, source_type: str, target_type: str) -> bool:
    return _matches(relation.source_types, source_type) and _matches(relation.target_types, target_type)


def _matches(allowed: tuple[str, ...], type_name: str) -> bool:
    return not allowed or _ANY in allowed or type_name in allowed


def _ends(types: tuple[str, ...]) -> str:
    return "any type" if not types or _ANY in types else _listed(types)


def _listed(names: Mapping[str, Any] | tuple[str, ...]) -> str:
    """The names for a message, cut where a long list stops helping."""
    shown = list(names)[:_NAMED_AT_MOST]
    return ", ".join(shown) + (", …" if len(names) > len(shown) else "") if shown else "none"


def _type_json(each: SchemaType) -> dict[str, Any]:
    labels = {"displayName": each.display_name, "description": each.description}
    return {
        "name": each.name,
        **{key: text for key, text in labels.items() if text},
        "allowedTiers": [str(tier) for tier in each.allowed_tiers or tuple(Tier)],
    }


def _relation_json(each: SchemaRelation) -> dict[str, Any]:
    return {
        "name": each.name,
        "kind": str(each.kind),
        **({"inverse": each.inverse} if each.inverse else {}),
        "sourceTypes": list(each.source_types or (_ANY,)),
        "targetTypes": list(each.target_types or (_ANY,)),
        "directed": each.directed,
    }
