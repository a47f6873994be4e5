"""What a save must pass before anything is stored, in the order the wire contract gives (design: Order of a save)."""

from __future__ import annotations

from datetime import datetime

from memories.domain.consent import CATEGORIES
from memories.domain.content import require_body
from memories.domain.save import SaveCommand
from omnia.core.errors import BadInput, FieldProblem
from policies.domain.effective import EffectivePolicy


def admit(command: SaveCommand, *, policy: EffectivePolicy, now: datetime) -> datetime | None:
    """The moment the memory will expire, None for never. Raises BadInput naming the rule it breaks."""
    if command.any_type:
        policy.vocabulary.check_institutional_type(command.type)
    else:
        policy.vocabulary.check_type(command.type, tier=command.scope.tier)
    require_body(command.content, max_bytes=policy.max_body_bytes)
    require_about_for(command.type, about=command.about, kinds=policy.dedup.require_about_for_kinds)
    require_category(command.category)
    require_future(command.expires_at, now=now)
    return policy.expiry.resolve(
        tier=command.scope.tier, category=command.category, explicit=command.expires_at, now=now
    )


def require_category(category: str | None) -> None:
    if category is not None and category not in CATEGORIES:
        known = ", ".join(sorted(CATEGORIES))
        raise _invalid("/category", "category_unknown", f"category must be one of {known}")


def require_future(expires_at: datetime | None, *, now: datetime) -> None:
    if expires_at is not None and expires_at <= now:
        raise _invalid("/expires_at", "expires_in_the_past", "expires_at must lie in the future")


def require_about_for(type_name: str, *, about: object | None, kinds: frozenset[str]) -> None:
    if about is None and type_name in kinds:
        raise _invalid(
            "/about", "about_required", f"type {type_name} must say what it is about: about{{kind, key}} is required"
        )


def _invalid(pointer: str, code: str, detail: str) -> BadInput:
    return BadInput(detail, code=code, errors=[FieldProblem(pointer, code, detail)])
