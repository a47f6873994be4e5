"""What the memory routes accept: one model a request, checked strictly before any rule runs."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from memories.domain.about import LONGEST_KEY
from memories.domain.kinds import PROVENANCE
from omnia.api.message import Message
from omnia.api.moments import parse_moment

_MOST_KEYS, _LONGEST_METADATA = 64, 16_384
_INT32 = 2**31 - 1


def _moment(value: Any) -> datetime:
    if not isinstance(value, str):
        raise ValueError("a time with its offset is expected, such as 2026-01-31T09:30:00Z")  # noqa: TRY004
    return parse_moment(value)


def _plain(text: str) -> str:
    if any(unicodedata.category(char) == "Cc" for char in text):
        raise ValueError("control characters are not allowed")
    return text


def name_text(text: str) -> str:
    """The text, if it can name something. Raises ValueError for white space alone and for control characters."""
    if not text.strip():
        raise ValueError("white space alone is no value; leave the field out")
    return _plain(text)


def _metadata(values: dict[str, str]) -> dict[str, str]:
    if sum(len(key) + len(value) for key, value in values.items()) > _LONGEST_METADATA:
        raise ValueError(f"metadata may have at most {_LONGEST_METADATA} characters in all")
    return values


def _ordered(turns: list[int]) -> list[int]:
    if turns[0] > turns[1]:
        raise ValueError("the first turn must not lie behind the last")
    return turns


def _share(value: Any) -> bool:
    if not isinstance(value, bool) and value not in ("agent", "institutional"):
        raise ValueError("share is true, false, agent or institutional")
    return bool(value)


Share = Annotated[bool, BeforeValidator(_share, json_schema_input_type=bool | Literal["agent", "institutional"])]
Moment = Annotated[datetime, BeforeValidator(_moment, json_schema_input_type=str)]
Label = Annotated[str, Field(max_length=128), AfterValidator(name_text)]
Identity = Annotated[str, Field(max_length=253), AfterValidator(name_text)]
Key = Annotated[str, Field(max_length=LONGEST_KEY), AfterValidator(name_text)]
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
MetadataKey = Annotated[str, Field(min_length=1, max_length=128), AfterValidator(_plain)]
Metadata = Annotated[dict[MetadataKey, str], Field(max_length=_MOST_KEYS), AfterValidator(_metadata)]
TurnRange = Annotated[
    list[Annotated[int, Field(ge=0, le=_INT32)]], Field(min_length=2, max_length=2), AfterValidator(_ordered)
]
Words = Annotated[list[Label], Field(min_length=1, max_length=64)]
"""A filter that narrows: an empty list would be read by some as nothing and by some as everything, so it is refused."""


class ScopeMessage(Message):
    """Whose memory it is. An empty string means "not given"."""

    workspace_id: str | None = None
    virtual_user_id: str | None = None
    user_id: str | None = Field(default=None, description="Alias of virtual_user_id, which wins when both are sent.")
    agent_id: str | None = None


class AboutMessage(Message):
    """The structured key under which a fact is kept up to date."""

    kind: str
    key: str


class SaveMessage(Message):
    """POST /memories."""

    scope: ScopeMessage = ScopeMessage()
    type: Label
    content: str
    confidence: Unit | None = Field(default=None, description="Unstated counts as 0.7.")
    metadata: Metadata = Field(default_factory=dict)
    provenance: Literal[tuple(PROVENANCE)] | None = None  # type: ignore[valid-type]
    category: str | None = Field(default=None, max_length=64)
    about: AboutMessage | None = None
    title: str | None = Field(default=None, max_length=1024)
    summary: str | None = Field(default=None, max_length=8192)
    purpose: Label | None = None
    container: Identity | None = None
    session_id: Identity | None = None
    turn_range: TurnRange | None = None
    observed_at: Moment | None = None
    expires_at: Moment | None = None
    share: Share = False


class EditMessage(Message):
    """PATCH /memories/{id}: what is left out stays; null clears what may be empty."""

    type: Label = ""
    content: str = ""
    confidence: Unit = 0.0
    metadata: Metadata = Field(default_factory=dict)
    title: str | None = Field(default=None, max_length=1024)
    summary: str | None = Field(default=None, max_length=8192)
    expires_at: Moment | None = None


class RelationMessage(Message):
    """POST /relations."""

    scope: ScopeMessage = ScopeMessage()
    source_id: str = Field(max_length=64)
    target_id: str = Field(max_length=64)
    relation_type: Label
    weight: Unit = Field(default=1.0, description="How much of a score the relation passes on.")
    metadata: Metadata = Field(default_factory=dict)
