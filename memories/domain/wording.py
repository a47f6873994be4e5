"""A wording: all of a memory that a newer saying of it may change (spec: dedup).

The ways a wording comes to be are functions of the old one and the command, so that what a merge
keeps and what it replaces can be read, and tested, without a store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from memories.domain.confidence import UNSTATED, combined
from memories.domain.consent import upward
from memories.domain.save import SaveCommand, SupersedeCommand


@dataclass(frozen=True, slots=True)
class Wording:
    """The columns of one wording, by their names in the store."""

    type: str
    content: str
    title: str | None
    summary: str | None
    metadata: Mapping[str, str]
    confidence: float
    expires_at: datetime | None
    consent_category: str | None
    purpose: str | None
    session_id: str | None
    turn_range: tuple[int, int] | None
    observed_at: datetime | None

    @staticmethod
    def of_row(row: Mapping[str, Any]) -> Wording:
        return Wording(**{field.name: row[field.name] for field in fields(Wording)})

    def texts(self) -> Iterator[str | None]:
        """Everything of it that is read as a text."""
        yield from (self.content, self.title, self.summary)
        yield from self.metadata.values()


def first(command: SaveCommand, *, expires_at: datetime | None) -> Wording:
    """The wording of a new memory."""
    return Wording(
        type=command.type,
        content=command.content,
        title=command.title,
        summary=command.summary,
        metadata=dict(command.metadata),
        confidence=UNSTATED if command.confidence is None else command.confidence,
        expires_at=expires_at,
        consent_category=command.category,
        purpose=command.purpose,
        session_id=command.session_id,
        turn_range=command.turn_range,
        observed_at=command.observed_at,
    )


def merged(old: Wording, command: SaveCommand, *, expires_at: datetime | None) -> Wording:
    """A near-duplicate reinforces the old memory: the newer body, the greater certainty, the later expiry.

    What the newer saying leaves out stays; metadata merges key by key, the newer value winning; what was
    sensitive stays so. The caller caps the expiry.
    """
    new = first(command, expires_at=later(old.expires_at, expires_at))
    kept = {field.name: getattr(old, field.name) for field in fields(Wording) if getattr(new, field.name) is None}
    kept |= {"expires_at": new.expires_at, "consent_category": upward(old.consent_category, command.category)}
    return replace(
        new,
        metadata={**old.metadata, **command.metadata},
        confidence=combined(old.confidence, stated=command.confidence),
        **kept,
    )


def restated(old: Wording, command: SaveCommand, *, expires_at: datetime | None) -> Wording:
    """The same key is said again: the newer saying replaces the old one, expiry and category anew.

    The old metadata stays beside the new unless it was said in a more sensitive category: it must go with that one.
    """
    kept = old.metadata if upward(old.consent_category, command.category) == command.category else {}
    return replace(first(command, expires_at=expires_at), metadata={**kept, **command.metadata})


def later(one: datetime | None, other: datetime | None) -> datetime | None:
    """The later of two expiries; None, which is never, is the latest."""
    return None if one is None or other is None else max(one, other)


def earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    """The earlier of two expiries; None, which is never, is the latest."""
    return min((each for each in (one, other) if each), default=None)


def drawn_together(sources: Sequence[Wording], command: SupersedeCommand) -> Wording:
    """One text in the place of several memories: it stands on the first and is as lasting and as sensitive as any.

    The caller caps the expiry.
    """
    first, *rest = sources
    expires_at, category = first.expires_at, first.consent_category
    for other in rest:
        expires_at, category = later(expires_at, other.expires_at), upward(category, other.consent_category)
    return replace(
        first,
        content=command.content,
        type=command.type or first.type,
        confidence=first.confidence if command.confidence is None else command.confidence,
        expires_at=expires_at,
        consent_category=category,
    )
