"""The memory routes as the OpenAPI document shows them: one decorator an operation."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view

from memories.api import answers, many_answers, many_messages, messages, recall_messages
from omnia.core.scope import Tier


def _query(name: str, description: str, *, kind: Any = str, **more: Any) -> OpenApiParameter:
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, description=description, **more)


WORKSPACE = _query("workspace", "UID or name of the workspace.", required=True)
SERVICE_GROUP = _query("service_group", "The service group whose policy applies; default `default`.")
_SCOPE = [
    WORKSPACE,
    _query("virtual_user_id", "The user whose memories; left out: rows of no user."),
    _query("agent", "The agent; left out: rows of no agent; `*` with a user: whatever the agent."),
    SERVICE_GROUP,
]
_FILTERS = [
    _query("type", "Types, comma separated or repeated."),
    _query("tier", "One tier.", enum=list(Tier)),
    _query("category", "A consent category."),
    _query("purpose", "A purpose."),
    _query("min_confidence", "Least confidence, 0 to 1.", kind=float),
    _query("include_shared", "Add the institutional rows, and the agent's.", kind=bool),
]
PAGE = [
    _query("limit", "Rows a page, 1 to 100; default 20.", kind=int),
    _query("offset", "Rows to skip.", kind=int),
]
CURSOR = _query("cursor", "`next` of the page before.")

list_memories = extend_schema(
    summary="List the memories of a scope, newest first",
    operation_id="listMemories",
    parameters=[*_SCOPE, *_FILTERS, *PAGE, CURSOR],
    responses=answers.ListAnswer,
)
search = extend_schema(
    summary="Search the memories of a scope",
    operation_id="searchMemories",
    parameters=[
        _query("q", "What to search for.", required=True),
        *_SCOPE,
        *_FILTERS,
        *PAGE,
        _query("preview", "Shorten long bodies.", kind=bool),
    ],
    responses=answers.SearchAnswer,
)
save = extend_schema(
    summary="Save a memory for a user",
    description="Merges into a near-duplicate or replaces what is kept under the same `about`; `action` says which.",
    operation_id="saveMemory",
    request=messages.SaveMessage,
    responses={201: answers.SaveAnswer},
)
recall = extend_schema(
    summary="Recall what answers a question",
    description=(
        "Joins the institutional tier, the agent's, the user's, and the user's for this agent. What seeds and lookups name"
        " and what graph expansion adds comes on top of `limit`; `source` says which."
    ),
    operation_id="recallMemories",
    request=recall_messages.RecallMessage,
    responses=answers.RecallAnswer,
)
semantic = extend_schema(
    summary="Search every tier, with a filter of your own",
    description="A row is left out unless `deny_cel` comes to a clean false for it.",
    operation_id="retrieveSemantic",
    request=recall_messages.SemanticMessage,
    responses=answers.SearchAnswer,
)
open_memory = extend_schema(
    summary="Open one memory", operation_id="openMemory", parameters=_SCOPE, responses=answers.MemoryAnswer
)
edit = extend_schema(
    summary="Change a memory",
    operation_id="editMemory",
    parameters=_SCOPE,
    request=messages.EditMessage,
    responses=answers.SaveAnswer,
)
forget = extend_schema(
    summary="Forget one memory", operation_id="forgetMemory", parameters=_SCOPE, responses=answers.ForgottenAnswer
)
restore = extend_schema(
    summary="Take back a forgotten memory",
    description=(
        "As long as the trash keeps it and it has not expired, in the same exact scope. 409 when another memory is kept"
        " under its `about` key by now (`about_key_taken`) or says the same (`already_remembered`)."
    ),
    operation_id="restoreMemory",
    parameters=_SCOPE,
    request=many_messages.RestoreMessage,
    responses=answers.SaveAnswer,
)
forget_everything = extend_schema(
    summary="Forget everything of a user or an agent",
    description="Permanent. A user or an agent must be named: an empty filter never means all.",
    operation_id="forgetEverything",
    parameters=_SCOPE,
    responses=answers.DeletedAnswer,
)
history = extend_schema(
    summary="What a memory said before",
    operation_id="memoryHistory",
    parameters=_SCOPE,
    responses=answers.HistoryAnswer,
)
list_relations = extend_schema(
    summary="List the relations of a memory, heaviest first",
    description="Both ways, to every memory a recall of the scope would show.",
    operation_id="listRelations",
    parameters=[_query("memory_id", "The memory.", kind=UUID, required=True), *_SCOPE, *PAGE, CURSOR],
    responses=answers.RelationsAnswer,
)
relate = extend_schema(
    summary="Relate two memories",
    description=(
        "Both must be memories a recall of the scope would show. A relation stated again keeps its id and takes the"
        " newer weight and metadata. Two shared memories are related by owners."
    ),
    operation_id="relateMemories",
    request=messages.RelationMessage,
    responses={201: answers.RelationIdAnswer},
)
unrelate = extend_schema(
    summary="Remove a relation", operation_id="removeRelation", parameters=_SCOPE, responses=answers.UnrelatedAnswer
)
schema = extend_schema(
    summary="The types and relations in force",
    operation_id="memorySchema",
    parameters=[WORKSPACE, _SCOPE[3]],
)
conflicts = extend_schema(
    summary="List what was told twice and differently",
    description="A user's pairs; without a user those of the shared tiers.",
    operation_id="listConflicts",
    parameters=[*_SCOPE[:3], PAGE[0], CURSOR],
    responses=many_answers.ConflictsAnswer,
)
supersede = extend_schema(
    summary="Replace several memories by one text",
    description="It lands on the first source; the others are superseded. One that is not in scope: nothing changes.",
    operation_id="supersedeMemories",
    request=many_messages.SupersedeMessage,
    responses=answers.SaveAnswer,
)
save_batch = extend_schema(
    summary="Save up to 100 memories",
    description="Each item is a save of its own, compared with those before it; a bad one fails alone.",
    operation_id="saveBatch",
    request=many_messages.BatchMessage,
    responses=many_answers.BatchAnswer,
)
delete_batch = extend_schema(
    summary="Delete a part of what a user or an agent has",
    description="Permanent, oldest first; repeat until `deleted` is 0. A user or an agent must be named.",
    operation_id="deleteBatch",
    parameters=[*_SCOPE, _query("limit", "Memories at most, 1 to 10000; default 500.", kind=int)],
    responses=answers.DeletedAnswer,
)
export = extend_schema(
    summary="Export everything held on a user",
    description="Whatever the agent unless one is named; what is no longer live is marked.",
    operation_id="exportMemories",
    parameters=_SCOPE[:3],
    responses=many_answers.ExportAnswer,
)
import_ = extend_schema(
    summary="Import memories for a user",
    description="Takes saves, or the memories of an export; what an export marks as no longer live is skipped.",
    operation_id="importMemories",
    request=many_messages.ImportMessage,
    responses=many_answers.ImportAnswer,
)


def _shared_list(words: str, name: str, whose: list[OpenApiParameter]) -> Any:
    return extend_schema_view(
        get=extend_schema(
            summary=f"List {words}, newest first",
            operation_id=f"list{name}Memories",
            parameters=[*whose, *_FILTERS[:1], *_FILTERS[2:5], *PAGE, CURSOR],
            responses=answers.ListAnswer,
        ),
        post=extend_schema(
            summary=f"Save to {words}",
            description="Curated by an operator: provenance and user in the body do not count.",
            operation_id=f"save{name}Memory",
            request=many_messages.SharedSaveMessage,
            responses={201: answers.SaveAnswer},
        ),
    )


def _shared_one(words: str, name: str, whose: list[OpenApiParameter]) -> Any:
    return extend_schema_view(
        get=extend_schema(
            summary=f"Open one of {words}",
            operation_id=f"open{name}Memory",
            parameters=whose,
            responses=answers.MemoryAnswer,
        ),
        delete=extend_schema(
            summary=f"Forget one of {words}",
            operation_id=f"forget{name}Memory",
            parameters=whose,
            responses=answers.ForgottenAnswer,
        ),
    )


_AGENT = [_SCOPE[0], _query("agent_id", "The agent.", required=True)]
agent_memories = _shared_list("an agent's memories", "Agent", _AGENT)
agent_memory = _shared_one("an agent's memories", "Agent", _AGENT)
institutional_memories = _shared_list("the institutional memories", "Institutional", _SCOPE[:1])
institutional_memory = _shared_one("the institutional memories", "Institutional", _SCOPE[:1])
tool_guidance = extend_schema(
    summary="What a model is told about the memory tools here",
    description=(
        "Derived from the policy; then the workspace's notes, then the agent's. `version` changes with the policy. The MCP"
        " server lists the same tools, word for word."
    ),
    operation_id="memoryToolGuidance",
    parameters=[
        _SCOPE[0],
        _SCOPE[3],
        _query("agent_notes", "The agent's own advice; what goes beyond 2000 characters is left out."),
    ],
    responses=answers.GuidanceAnswer,
)
