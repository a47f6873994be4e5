"""What a recall asks for: the question, what narrows it, what is named beside it, and how far the graph is walked.

An unknown field is refused everywhere here: a filter ignored in silence would widen the answer.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, ConfigDict, Field

from memories.api.messages import Identity, Key, Label, Moment, ScopeMessage, Unit, Words
from memories.domain.about import folded, folded_prefix
from memories.domain.expansion import MOST_ADDED, MOST_HOPS, ExpansionWish
from memories.domain.lookup import DEFAULT_ROWS, MOST_ROWS, Lookup
from memories.domain.query_text import LONGEST_QUERY
from memories.domain.ranking import DEFAULT_LIMIT, LARGEST_LIMIT
from memories.recall.request import RecallRequest
from omnia.api.message import Message
from omnia.core.errors import BadInput, FieldProblem
from omnia.core.scope import Scope

_MOST_SEEDS, _MOST_LOOKUPS = 100, 10


def _ident(value: Any) -> UUID:
    if not isinstance(value, str):
        raise ValueError("a UUID is expected")  # noqa: TRY004
    try:
        return UUID(value)
    except ValueError:
        raise ValueError("a UUID is expected") from None


def _given(value: Any) -> Any:
    return None if value == "" else value


def _wished(value: Any) -> Any:
    return {"enabled": value} if isinstance(value, bool) else value


Ident = Annotated[UUID, BeforeValidator(_ident, json_schema_input_type=UUID)]
Owner = Annotated[Identity | None, BeforeValidator(_given, json_schema_input_type=str | None)]


class StrictMessage(Message):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ExpansionMessage(StrictMessage):
    """What a recall wants otherwise than `recall.graphExpansion` of the policy; sending it asks for the walk."""

    enabled: bool = True
    hops: int | None = Field(
        default=None, ge=1, description=f"How far to walk; above {MOST_HOPS} counts as {MOST_HOPS}."
    )
    relation_types: Words | None = Field(default=None, description="Relations to follow; left out: the policy's.")
    max_added: int | None = Field(default=None, ge=1, le=MOST_ADDED, description="How many rows the walk may add.")
    weight: Unit | None = Field(default=None, description="Multiplies the score of a row for each hop.")


Expansion = Annotated[ExpansionMessage, BeforeValidator(_wished, json_schema_input_type=bool | ExpansionMessage)]


class LookupMessage(StrictMessage):
    """Rows that meet every condition named, at least one; kinds and prefix are those of what a memory is about."""

    user_id: Owner = Field(default=None, description="Only rows of this user, who is the user of the recall.")
    agent_id: Owner = Field(default=None, description="Only rows of this agent, which is the agent of the recall.")
    kinds: Words | None = Field(default=None, description="Kinds of `about`, in any case.")
    name_prefix: Key | None = Field(default=None, description="How the key of `about` begins: plain text, in any case.")
    purpose: Label | None = None
    limit: int = Field(default=DEFAULT_ROWS, ge=1, le=MOST_ROWS)

    def lookup(self) -> Lookup:
        return Lookup(
            user=self.user_id,
            agent=self.agent_id,
            kinds=tuple(dict.fromkeys(map(folded, self.kinds or ()))),
            name_prefix=folded_prefix(self.name_prefix) if self.name_prefix else None,
            purpose=self.purpose,
            limit=self.limit,
        )


class RecallMessage(StrictMessage):
    """POST /memories/retrieve."""

    workspace_id: str | None = None
    scope: ScopeMessage | None = None
    user_id: str | None = None
    virtual_user_id: str | None = None
    agent_id: str | None = None
    service_group: str | None = None
    query: str = Field(
        default="",
        max_length=LONGEST_QUERY,
        description="Without one: the newest rows, or only those that seeds and lookups name.",
    )
    types: Words | None = None
    purposes: Words | None = None
    min_confidence: Unit | None = None
    limit: int = Field(
        default=DEFAULT_LIMIT, ge=1, le=LARGEST_LIMIT, description="Most rows the question finds; others come on top."
    )
    graph_expansion: Expansion | None = Field(
        default=None,
        description="Walk the relations of what was found; true or false for short. Left out: as the policy says. Enterprise.",
    )
    relation_types: Words | None = Field(default=None, description="Relations the walk follows.")
    seed_entity_ids: list[Ident] = Field(
        default_factory=list,
        max_length=_MOST_SEEDS,
        description="Ids of memories, or of what memories are about: they join the answer, and the walk starts there too.",
    )
    structured_lookups: list[LookupMessage] = Field(default_factory=list, max_length=_MOST_LOOKUPS)
    preview: bool = False
    explain: bool = False
    as_of: Moment | None = Field(
        default=None,
        description="What was known then: rows superseded since, and earlier wordings. Goes with a question alone.",
    )

    @property
    def names_more(self) -> bool:
        """Whether anything but the question is asked."""
        return bool(self.seed_entity_ids or self.structured_lookups or self.graph_expansion or self.relation_types)


class SemanticMessage(StrictMessage):
    """POST /memories/retrieve/semantic."""

    workspace_id: str | None = None
    scope: ScopeMessage | None = None
    user_id: str | None = None
    virtual_user_id: str | None = None
    agent_id: str | None = None
    service_group: str | None = None
    query: str = Field(max_length=LONGEST_QUERY)
    deny_cel: str = Field(
        default="",
        description="CEL over metadata, category, tier, kind, source; what it does not clearly let through is left out.",
    )
    limit: int = Field(default=20, ge=1, le=LARGEST_LIMIT)


def recall_request(message: RecallMessage, *, scope: Scope, now: datetime) -> RecallRequest:
    """The request a message stands for.

    Raises BadInput `lookup_too_wide`, `relation_types_twice`, `as_of_in_the_future` or `as_of_alone`, Forbidden
    `lookup_outside_scope`.
    """
    if message.as_of:
        _check_as_of(message, now=now)
    return RecallRequest(
        scope=scope,
        query=message.query.strip(),
        types=tuple(message.types or ()),
        purposes=tuple(message.purposes or ()),
        min_confidence=message.min_confidence,
        limit=message.limit,
        preview=message.preview,
        explain=message.explain,
        expansion=_expansion(message),
        seeds=tuple(message.seed_entity_ids),
        lookups=_lookups(message.structured_lookups, scope=scope),
        as_of=message.as_of,
    )


def _check_as_of(message: RecallMessage, *, now: datetime) -> None:
    if message.as_of and message.as_of > now:
        raise _invalid("/as_of", "as_of_in_the_future", "as_of must not lie in the future")
    if message.names_more:
        detail = "the past is asked by a question alone: leave out graph_expansion, relation_types, seeds and lookups"
        raise _invalid("/as_of", "as_of_alone", detail)


def _expansion(message: RecallMessage) -> ExpansionWish:
    wish, followed = message.graph_expansion, message.relation_types
    if wish is None:
        return ExpansionWish(relation_types=_types(followed))
    if followed and wish.relation_types and set(followed) != set(wish.relation_types):
        detail = "graph_expansion names other relation types; name them once"
        raise _invalid("/relation_types", "relation_types_twice", detail)
    return ExpansionWish(
        enabled=wish.enabled,
        hops=wish.hops,
        relation_types=_types(wish.relation_types or followed),
        max_added=wish.max_added,
        weight=wish.weight,
    )


def _types(names: list[str] | None) -> tuple[str, ...] | None:
    return tuple(names) if names else None


def _lookups(messages: list[LookupMessage], *, scope: Scope) -> tuple[Lookup, ...]:
    lookups = tuple(message.lookup() for message in messages)
    for number, lookup in enumerate(lookups):
        if lookup.names_nothing:
            detail = "name kinds, name_prefix, purpose, user_id or agent_id: an empty lookup never means all"
            raise _invalid(f"/structured_lookups/{number}", "lookup_too_wide", detail)
        lookup.require_within(scope)
    return lookups


def _invalid(pointer: str, code: str, detail: str) -> BadInput:
    return BadInput(f"{pointer}: {detail}", code=code, errors=[FieldProblem(pointer, code, detail)])
