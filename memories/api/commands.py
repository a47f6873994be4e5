"""What the memory routes have in common when they turn messages and query strings into commands."""

from __future__ import annotations

from memories.api.messages import SaveMessage
from memories.domain.about import About
from memories.domain.kinds import DEFAULT_PROVENANCE
from memories.domain.reach import Filters
from memories.domain.save import SaveCommand
from omnia.api.query import Query
from omnia.core.errors import BadInput, FieldProblem
from omnia.core.scope import Scope, Tier

NARROWING = ("type", "tier", "category", "purpose", "min_confidence", "include_shared")
"""The parameters that narrow or widen a read."""


def save_command(message: SaveMessage, *, scope: Scope) -> SaveCommand:
    """The command a save message stands for."""
    about = About.of(message.about.kind, message.about.key) if message.about else None
    return SaveCommand(
        scope=scope,
        type=message.type,
        content=message.content,
        confidence=message.confidence,
        metadata=message.metadata,
        provenance=message.provenance or DEFAULT_PROVENANCE,
        category=message.category,
        about=about,
        title=message.title,
        summary=message.summary,
        purpose=message.purpose,
        container=message.container,
        session_id=message.session_id,
        turn_range=(message.turn_range[0], message.turn_range[1]) if message.turn_range else None,
        observed_at=message.observed_at,
        expires_at=message.expires_at,
        share=message.share,
    )


def filters(query: Query) -> Filters:
    """The filters of a list or search."""
    tier = query.text("tier")
    if tier is not None and tier not in tuple(Tier):
        raise invalid("tier", "invalid_parameter", f"one of {', '.join(Tier)} is expected")
    return Filters(
        types=query.words("type"),
        category=query.text("category"),
        purpose=query.text("purpose"),
        tier=Tier(tier) if tier else None,
        min_confidence=query.number("min_confidence", low=0, high=1),
    )


def invalid(field: str, code: str, detail: str) -> BadInput:
    """The error for one field, by its path in the body or its name in the query; raise it."""
    return BadInput(f"{field}: {detail}", code=code, errors=[FieldProblem(f"/{field}", code, detail)])
