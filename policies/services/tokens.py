"""Tokens as people make, see and withdraw them: never with more power than one's own (reference: Roles)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from omnia.api import tokens
from omnia.api.models import ApiToken
from omnia.api.principal import Principal, Role
from omnia.api.tokens import Issued, NewToken
from omnia.core.actor import Actor
from omnia.core.errors import Forbidden, NotFound
from policies.services.access import open_workspace, visible_workspaces

EVERYWHERE = "*"


@dataclass(frozen=True, slots=True)
class Wish:
    """The token somebody asks for. `workspaces` are uids or names, or `*` for every one, now and later."""

    name: str
    role: Role
    workspaces: Sequence[str]
    subject: str | None = None
    scopes: frozenset[str] = frozenset()
    lifetime: timedelta | None = None


def make_token(wish: Wish, *, principal: Principal, actor: Actor, now: datetime) -> Issued:
    """Makes the token. An owner's reach their own workspaces; everything else takes a platform admin.

    Raises Forbidden `role_too_small`, `scope_not_held` or `outlives_its_maker`, NotFound `workspace_not_found`, or
    BadInput naming the rule a wish breaks.
    """
    _require_maker(principal)
    _require_held(wish, principal, now)
    everywhere = EVERYWHERE in wish.workspaces or wish.role is Role.PLATFORM_ADMIN
    if everywhere and not principal.platform_admin:
        raise Forbidden(
            "A token for everything takes a platform admin; name workspaces you own.", code="role_too_small"
        )
    known = [open_workspace(principal, each, at_least=Role.OWNER).uid for each in wish.workspaces if each != EVERYWHERE]
    new = NewToken(
        name=wish.name,
        role=wish.role,
        workspaces=None if everywhere else frozenset(known),
        subject=wish.subject,
        scopes=wish.scopes,
        lifetime=wish.lifetime,
    )
    return tokens.create_token(new, actor=actor, now=now)


def visible_tokens(principal: Principal) -> list[ApiToken]:
    """The tokens the caller may withdraw, newest first; withdrawn ones are not among them."""
    _require_maker(principal)
    rows = ApiToken.objects.filter(revoked_at=None).order_by("-created_at", "-id")
    if principal.platform_admin:
        return list(rows)
    owned = _owned(principal)
    return [row for row in rows.filter(all_workspaces=False, workspaces__overlap=list(owned)) if _within(row, owned)]


def withdraw_token(token: UUID, *, principal: Principal, actor: Actor, now: datetime) -> None:
    """Withdraws a token for good. Raises NotFound `token_not_found` for one the caller may not see."""
    if token not in {row.id for row in visible_tokens(principal)}:
        raise NotFound("There is no such token in use.", code="token_not_found")
    tokens.revoke_token(token, actor=actor, now=now)


def _require_maker(principal: Principal) -> None:
    if principal.subject is not None:
        raise Forbidden("A token bound to a user does not deal with tokens.", code="bound_to_a_user")
    if not principal.platform_admin and not _owned(principal):
        raise Forbidden("Tokens are for owners of a workspace and platform admins.", code="role_too_small")


def _require_held(wish: Wish, principal: Principal, now: datetime) -> None:
    """Scopes and time are the maker's to give as far as they have them."""
    if not principal.platform_admin and not wish.scopes <= principal.scopes:
        raise Forbidden("A scope is given by who has it, or by a platform admin.", code="scope_not_held")
    ends = _end_of(principal)
    if ends is not None and (wish.lifetime is None or now + wish.lifetime > ends):
        raise Forbidden(
            f"A token ends no later than the one that makes it ({ends:%Y-%m-%dT%H:%M:%SZ}).", code="outlives_its_maker"
        )


def _end_of(principal: Principal) -> datetime | None:
    """When the token the caller shows ends; None when it does not, or they show none of ours."""
    kind, _, key = principal.caller.partition(":")
    ends = ApiToken.objects.filter(id=key).values_list("expires_at", flat=True) if kind == "token" else ()
    return next(iter(ends), None)


def _owned(principal: Principal) -> set[UUID]:
    return {each.uid for each in visible_workspaces(principal) if each.role >= Role.OWNER}


def _within(row: ApiToken, owned: set[UUID]) -> bool:
    """Whether the token reaches nothing but what the caller owns."""
    return set(row.workspaces) <= owned
