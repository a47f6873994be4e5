"""A memory as a person reads it: the memory object of the API in words (design: The memory object).

Nothing is looked up here; what the services answered is put into labels, lines and groups.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memories.domain.preview import content_preview
from policies.dashboard.moments import Moment, seen_from

TIERS = {
    "institutional": "Institutional",
    "agent": "Agent",
    "user": "User",
    "user_for_agent": "User for agent",
}
_EVIDENCE = {
    "explicit": "Explicit: a person asked for it",
    "curated": "Curated: an operator wrote it",
    "inferred": "Inferred: an agent or the server drew it from something else",
}
_MUTABILITY = {
    "mutable": "Mutable",
    "summarisable_only": "May be summarised, not rewritten",
    "immutable": "Immutable",
}
_EMBEDDING = {
    "ready": "Ready: found by meaning and by its words",
    "pending": "Pending: found by its words until the vector is made",
    "none": "None: found by its words",
}

_REPLACED = {
    "high_similarity": "merged with a newer wording",
    "structured_key": "replaced under the same about key",
    "supersede_many": "replaced together with others",
    "edited": "edited",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list. `confidence` is 0 to 1."""

    id: UUID
    title: str
    text: str
    tier: str
    tier_label: str
    type: str
    confidence: float
    updated: Moment

    @property
    def percent(self) -> int:
        return round(self.confidence * 100)


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled line of an open memory; `note` stands behind the value, smaller."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a memory said before: until when, and why no longer."""

    content: str
    until: Moment
    why: str
    actor: str


@dataclass(frozen=True, slots=True)
class OpenedMemory:
    """A memory opened, ready to be shown."""

    id: UUID
    title: str
    summary: str
    content: str
    tier: str
    tier_label: str
    type: str
    confidence: float
    expires: Moment | None
    groups: list[tuple[str, list[Fact]]]
    metadata: list[tuple[str, str]]
    history: list[Earlier]

    @property
    def percent(self) -> int:
        return round(self.confidence * 100)


def row_of(memory: Mapping[str, Any], *, now: datetime) -> Row:
    """The line of the list for a memory object, whole or previewed."""
    return Row(
        id=memory["id"],
        title=memory.get("title", ""),
        text=content_preview(memory.get("content_preview") or memory["content"]),
        tier=memory["tier"],
        tier_label=TIERS[memory["tier"]],
        type=memory["type"],
        confidence=memory["confidence"],
        updated=seen_from(now, memory["updated_at"]),
    )


def opened(memory: Mapping[str, Any], *, wordings: Iterable[Mapping[str, Any]], now: datetime) -> OpenedMemory:
    """Everything a memory object says, in the groups the page shows, and its earlier wordings."""
    expires = memory.get("expires_at")
    groups = [
        ("Whose it is", list(_whose(memory))),
        ("Where it comes from", list(_origin(memory))),
        ("When", list(_times(memory, now))),
        ("How it is stored", list(_storage(memory))),
    ]
    return OpenedMemory(
        id=memory["id"],
        title=memory.get("title", ""),
        summary=memory.get("summary", ""),
        content=memory["content"],
        tier=memory["tier"],
        tier_label=TIERS[memory["tier"]],
        type=memory["type"],
        confidence=memory["confidence"],
        expires=seen_from(now, expires) if expires else None,
        groups=groups,
        metadata=[(key, _plain(value)) for key, value in sorted(memory["metadata"].items())],
        history=[_earlier(each, now) for each in wordings],
    )


def _whose(memory: Mapping[str, Any]) -> Iterator[Fact]:
    scope = memory["scope"]
    yield Fact(
        "User", scope.get("virtual_user_id") or "None", "" if "virtual_user_id" in scope else "shared by all users"
    )
    yield Fact("Agent", scope.get("agent_id") or "None", "" if "agent_id" in scope else "not tied to an agent")
    if about := memory.get("about"):
        yield Fact("About", about["key"], about["kind"])
    if container := memory.get("container"):
        yield Fact("Container", container)


def _origin(memory: Mapping[str, Any]) -> Iterator[Fact]:
    yield Fact("Evidence", _EVIDENCE[memory["evidence_class"]])
    yield Fact("Source", memory["source_type"].replace("_", " ").capitalize())
    yield Fact("Evidence count", str(memory["evidence_count"]))
    if session := memory.get("session_id"):
        yield Fact("Session", session)
    if turns := memory.get("turn_range"):
        yield Fact("Turns", f"{turns[0]} to {turns[1]}")
    yield Fact("Consent category", memory.get("consent_category") or "None")
    yield Fact("Purpose", memory.get("purpose") or "None")


def _times(memory: Mapping[str, Any], now: datetime) -> Iterator[Fact]:
    for name, label in (("observed_at", "Observed"), ("created_at", "Created"), ("updated_at", "Updated")):
        if at := memory.get(name):
            moment = seen_from(now, at)
            yield Fact(label, moment.distance, moment.full)
    if at := memory.get("accessed_at"):
        moment = seen_from(now, at)
        yield Fact("Last read", moment.distance, moment.full)
    if at := memory.get("expires_at"):
        moment = seen_from(now, at)
        yield Fact("Expires", f"{moment.distance} ({moment.date})", f"{moment.at:%H:%M:%S} UTC")
    else:
        yield Fact("Expires", "Never")


def _storage(memory: Mapping[str, Any]) -> Iterator[Fact]:
    yield Fact("Mutability", _MUTABILITY[memory["mutability"]])
    yield Fact("Embedding", _EMBEDDING[memory["embedding_status"]])
    yield Fact("Size", f"{memory['body_size_bytes']:,} bytes")
    yield Fact("Id", str(memory["id"]))


def _earlier(wording: Mapping[str, Any], now: datetime) -> Earlier:
    why = _REPLACED[wording["reason"]]
    return Earlier(wording["content"], seen_from(now, wording["replaced_at"]), why, wording["actor"])


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
