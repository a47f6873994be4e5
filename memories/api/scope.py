"""The scope of a request, told once from body and query, and what the caller may do in it (design: Scope, Auth).

A user or agent named in two places must be the same; an empty string is "not given", and white space is
neither. A token bound to a user acts as that user only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from memories.domain.reach import Reach
from memories.services import standing
from omnia.api.principal import Principal, Role
from omnia.api.views import ApiView
from omnia.core.errors import BadInput, FieldProblem, Forbidden
from omnia.core.scope import Scope, Tier
from policies.domain.effective import EffectivePolicy
from policies.services.access import OpenWorkspace, open_workspace
from policies.services.resolve import policy_for

ANY_AGENT = "*"
_LONGEST = 253
_NAMES = {
    "workspace": ("workspace_id", "workspace"),
    "user": ("virtual_user_id", "user_id"),
    "agent": ("agent_id", "agent"),
    "service_group": ("service_group",),
}
"""What each part may be called; in one place of a request the first name given wins."""
SCOPE_PARAMETERS = tuple(name for names in _NAMES.values() for name in names)


@dataclass(frozen=True, slots=True)
class Asked:
    """The scope a request names, before anyone looked whether the caller may."""

    workspace: str
    user: str | None
    agent: str | None
    service_group: str


@dataclass(frozen=True, slots=True)
class Admitted:
    """A scope the caller may act in, and the role they do it with."""

    workspace: OpenWorkspace
    user: str | None
    agent: str | None
    service_group: str

    @property
    def scope(self) -> Scope:
        """The exact scope. Raises BadInput for `agent=*`, which is not one."""
        if self.agent == ANY_AGENT:
            raise BadInput("agent=* is for reading a user's memories; name the agent.", code="invalid_scope")
        return Scope(self.workspace.uid, self.user, self.agent)

    def reach(self, *, include_shared: bool = False) -> Reach:
        """The rows a read touches; `agent=*` takes every agent of the user."""
        any_agent = self.agent == ANY_AGENT
        scope = Scope(self.workspace.uid, self.user, None if any_agent else self.agent)
        return Reach(scope, any_agent=any_agent, include_shared=include_shared)

    @property
    def policy(self) -> EffectivePolicy:
        return policy_for(self.workspace.uid, service_group=self.service_group)


def admit(asked: Asked, *, principal: Principal, at_least: Role, user: str | None = None) -> Admitted:
    """The scope `asked`, of `user` where it names none.

    Raises NotFound `workspace_not_found`, Forbidden `role_too_small`, or `bound_to_a_user` where it names another
    user than the one the token is bound to.
    """
    workspace = open_workspace(principal, asked.workspace, at_least=at_least)
    if principal.subject is not None and asked.user not in (None, principal.subject):
        raise Forbidden("This token is bound to another user.", code="bound_to_a_user")
    return Admitted(workspace, asked.user or user, asked.agent, asked.service_group)


def admit_reader(view: ApiView) -> Admitted:
    """The scope of a read, from the query string and, where there is one, the body."""
    return _admit(view, at_least=Role.VIEWER)


def admit_person(view: ApiView, *, at_least: Role) -> Admitted:
    """The scope of a request made for a user; a bound token need not name its own."""
    return _admit(view, at_least=at_least, user=view.principal.subject)


def admit_user(view: ApiView, *, item: Mapping[str, Any] | None = None) -> Admitted:
    """The scope of a write for a user, who must be named or bound. Raises BadInput `user_required`.

    `item` is the one of several in the body whose scope is asked for.
    """
    admitted = _admit(view, at_least=Role.EDITOR, user=view.principal.subject, item=item)
    if admitted.user is None:
        raise _invalid("scope/virtual_user_id", "user_required", "name the user whose memory it is")
    return admitted


def admit_writer(view: ApiView) -> Admitted:
    """The scope of a change: editors write in the user tiers, owners in the shared ones too.

    Raises Forbidden `role_too_small`, or `bound_to_a_user` where a bound token reaches for a shared tier.
    """
    admitted = _admit(view, at_least=Role.EDITOR)
    refusal = shared_refusal(view, admitted)
    if refusal and admitted.scope.tier.shared:
        raise refusal
    return admitted


def admit_shared(view: ApiView, *, writes: bool) -> Admitted:
    """The scope on a route of a shared tier, where a user named is none of its; owners write, viewers read.

    Raises as `admit_writer` does.
    """
    admitted = replace(_admit(view, at_least=Role.VIEWER), user=None)
    refusal = shared_refusal(view, admitted)
    if refusal and writes:
        raise refusal
    return admitted


def shared_refusal(view: ApiView, admitted: Admitted) -> Forbidden | None:
    """Why the caller may not change memories of the shared tiers; None where they may."""
    if view.principal.subject is not None:
        return Forbidden("This token is bound to a user and writes that user's memories only.", code="bound_to_a_user")
    return standing.refusal(Tier.AGENT, role=admitted.workspace.role)


def require_scope_alone(view: ApiView, *, besides: frozenset[str] = frozenset()) -> None:
    """For a request that deletes all of a scope: a filter nobody reads would delete what it was to spare.

    Raises BadInput `unknown_parameter` for anything in query or body that neither names the scope nor is `besides`.
    """
    known = {"scope", *besides, *SCOPE_PARAMETERS}
    nested = view.body.get("scope")
    given = [*view.request.query_params, *view.body, *(nested if isinstance(nested, Mapping) else ())]
    for name in given:
        if name not in known:
            raise _invalid(
                name[:_LONGEST], "unknown_parameter", "everything of a scope goes; nothing narrows it further"
            )


def _admit(
    view: ApiView, *, at_least: Role, user: str | None = None, item: Mapping[str, Any] | None = None
) -> Admitted:
    return admit(_asked(view, item=item), principal=view.principal, at_least=at_least, user=user)


def _asked(view: ApiView, *, item: Mapping[str, Any] | None) -> Asked:
    body = item if item is not None else view.body if view.request.method != "GET" else {}
    nested = body.get("scope")
    places: list[Mapping[str, Any]] = [body, nested] if isinstance(nested, Mapping) else [body]
    workspace = _part(view, "workspace", places) or settings.OMNIA.workspace
    if not workspace:
        raise _invalid("workspace", "workspace_required", "name the workspace, by its UID or its name")
    group = _part(view, "service_group", places) or view.request.headers.get("X-Omnia-Service-Group")
    return Asked(
        workspace=workspace,
        user=_part(view, "user", places),
        agent=_part(view, "agent", places),
        service_group=group or settings.OMNIA.service_group,
    )


def _part(view: ApiView, part: str, places: list[Mapping[str, Any]]) -> str | None:
    """The one value a request gives `part`, wherever it stands."""
    names = _NAMES[part]
    asked = next(filter(None, map(view.query.text, names)), None) if view.query else None
    values = {value for value in (asked, *(_first(place, names) for place in places)) if value is not None}
    if len(values) > 1:
        raise _invalid(part, "scope_mismatch", "body and query name different ones; name it once")
    return values.pop() if values else None


def _first(place: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = place.get(name)
        if value is not None and value != "":
            return scope_text(value, name=name)
    return None


def scope_text(value: Any, *, name: str) -> str:
    """One part of a scope. Raises BadInput `invalid_scope`, naming the part."""
    if not isinstance(value, str):
        raise _invalid(name, "invalid_scope", "a text is expected")
    if not value.strip() or len(value) > _LONGEST or not value.isprintable():
        raise _invalid(name, "invalid_scope", f"1 to {_LONGEST} printable characters are expected")
    return value


def _invalid(name: str, code: str, detail: str) -> BadInput:
    return BadInput(f"{name}: {detail}", code=code, errors=[FieldProblem(f"/{name}", code, detail)])
