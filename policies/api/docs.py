"""The routes of policies, workspaces and tokens as the OpenAPI document shows them: one decorator an operation."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, Field

from policies.api.token_message import TokenMessage

_IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    required=True,
    description="The ETag that was read; `*` for whatever is there.",
)
_PAGE = [
    OpenApiParameter("limit", int, OpenApiParameter.QUERY, description="Items a page, 1 to 100; default 100."),
    OpenApiParameter("cursor", str, OpenApiParameter.QUERY, description="`next` of the page before."),
]
_YAML = "JSON, or YAML with `Accept: application/yaml`."
_PATCH = "A merge patch (RFC 7396): null removes a field, and what it does not name stays."
_EITHER = "The body is JSON, or YAML with `Content-Type: application/yaml`."


class MetadataAnswer(BaseModel):
    name: str
    uid: UUID
    generation: int
    creationTimestamp: datetime  # noqa: N815 - the cluster's spelling


class BindingAnswer(BaseModel):
    workspace: str
    workspace_uid: UUID
    service_group: str


class DocumentMessage(BaseModel):
    """A whole document. `apiVersion` and `kind` may be left out."""

    apiVersion: str | None = None  # noqa: N815 - the cluster's spelling
    kind: str | None = None
    metadata: dict[str, Any]
    spec: dict[str, Any]


class WorkspaceAnswer(BaseModel):
    apiVersion: str  # noqa: N815 - the cluster's spelling
    kind: str
    metadata: MetadataAnswer
    spec: dict[str, Any]


class PolicyAnswer(WorkspaceAnswer):
    status: dict[str, Any]
    bindings: list[BindingAnswer] = Field(
        description="The service groups that run on it, as far as the caller may see."
    )


class PoliciesAnswer(BaseModel):
    items: list[PolicyAnswer]
    next: str | None


class WorkspacesAnswer(BaseModel):
    items: list[WorkspaceAnswer]
    next: str | None


class PatchMessage(BaseModel):
    """A merge patch (RFC 7396): null removes a field."""

    metadata: dict[str, Any] | None = None
    spec: dict[str, Any] | None = None


class ProblemAtAnswer(BaseModel):
    pointer: str
    code: str
    detail: str


class VerdictAnswer(BaseModel):
    valid: bool
    errors: list[ProblemAtAnswer]
    conditions: list[dict[str, Any]]


class DeletedAnswer(BaseModel):
    status: str
    name: str


class TokenAnswer(BaseModel):
    id: UUID
    name: str
    role: str
    workspaces: list[str]
    user: str | None
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class IssuedAnswer(TokenAnswer):
    token: str = Field(description="Shown only now.")


class TokensAnswer(BaseModel):
    items: list[TokenAnswer]


class RevokedAnswer(BaseModel):
    status: str
    id: UUID


list_policies = extend_schema(
    summary="List policies", description=_YAML, operation_id="listPolicies", parameters=_PAGE, responses=PoliciesAnswer
)
create_policy = extend_schema(
    summary="Make a policy",
    description=_EITHER,
    operation_id="createPolicy",
    request=DocumentMessage,
    responses={201: PolicyAnswer},
)
show_policy = extend_schema(
    summary="Show a policy", description=_YAML, operation_id="showPolicy", responses=PolicyAnswer
)
replace_policy = extend_schema(
    summary="Replace a policy",
    description=_EITHER,
    operation_id="replacePolicy",
    parameters=[_IF_MATCH],
    request=DocumentMessage,
    responses=PolicyAnswer,
)
patch_policy = extend_schema(
    summary="Change a policy",
    description=_PATCH,
    operation_id="patchPolicy",
    parameters=[_IF_MATCH],
    request=PatchMessage,
    responses=PolicyAnswer,
)
list_workspaces = extend_schema(
    summary="List workspaces",
    description=_YAML,
    operation_id="listWorkspaces",
    parameters=_PAGE,
    responses=WorkspacesAnswer,
)
create_workspace = extend_schema(
    summary="Make a workspace",
    description=_EITHER,
    operation_id="createWorkspace",
    request=DocumentMessage,
    responses={201: WorkspaceAnswer},
)
show_workspace = extend_schema(
    summary="Show a workspace", description=_YAML, operation_id="showWorkspace", responses=WorkspaceAnswer
)
replace_workspace = extend_schema(
    summary="Replace a workspace",
    description=_EITHER,
    operation_id="replaceWorkspace",
    parameters=[_IF_MATCH],
    request=DocumentMessage,
    responses=WorkspaceAnswer,
)
patch_workspace = extend_schema(
    summary="Change a workspace",
    description=_PATCH,
    operation_id="patchWorkspace",
    parameters=[_IF_MATCH],
    request=PatchMessage,
    responses=WorkspaceAnswer,
)
delete_policy = extend_schema(
    summary="Delete a policy",
    description="The service groups that bind it run with no policy from then on.",
    operation_id="deletePolicy",
    parameters=[_IF_MATCH],
    responses=DeletedAnswer,
)
delete_workspace = extend_schema(
    summary="Delete a workspace",
    operation_id="deleteWorkspace",
    parameters=[
        _IF_MATCH,
        OpenApiParameter(
            "confirm", str, OpenApiParameter.QUERY, description="Its name, to delete its memories with it."
        ),
    ],
    responses=DeletedAnswer,
)
validate_policy = extend_schema(
    summary="Check a policy without storing it",
    description="An existing policy's stored faults may stay, as in an update; `as=create` judges it as a new one.",
    operation_id="validatePolicy",
    parameters=[OpenApiParameter("as", str, OpenApiParameter.QUERY, enum=["create"])],
    request=DocumentMessage,
    responses=VerdictAnswer,
)
list_tokens = extend_schema(summary="List tokens", operation_id="listTokens", responses=TokensAnswer)
create_token = extend_schema(
    summary="Make a token", operation_id="createToken", request=TokenMessage, responses={201: IssuedAnswer}
)
withdraw_token = extend_schema(summary="Withdraw a token", operation_id="withdrawToken", responses=RevokedAnswer)
